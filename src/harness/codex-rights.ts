import type { WireApproval, WireSandbox } from '../rpc/protocol.ts';
import type { SandboxMode, ThreadSettings } from './harness.ts';

/** What a peer was opened with. What is left out is the thread's own affair. */
export interface AskedSettings {
  readonly sandbox: SandboxMode;
  /** Codex's word: `never`, `on-request`, `untrusted`. */
  readonly approval: string;
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  readonly cwd?: string | undefined;
}

/** Settings as the daemon reports them, with what the seam's `ThreadSettings` has no word for. */
export interface ReportedSettings extends ThreadSettings {
  /** A read-only or external sandbox with the network open, or one that is not Codex's at all. */
  readonly isWiderThanItsMode: boolean;
}

export interface RightsReview {
  /** Anything that differs from what was asked. */
  readonly hasDifferences: boolean;
  /** Why nothing may be dispatched, as part of a sentence; null when nothing is wider than asked. */
  readonly tooWide: string | null;
  /** Parameters of the `thread/settings/update` that puts the differences right, `threadId` left out. */
  readonly repair: Readonly<Record<string, unknown>>;
}

const SANDBOX_WIDTH: Record<SandboxMode, number> = {
  'read-only': 0,
  'workspace-write': 1,
  'danger-full-access': 2,
};

/** Reads what `thread/start`, `thread/resume` and `thread/settings/updated` say into one shape. */
export function readSettings(wire: {
  readonly model?: string | null | undefined;
  readonly effort?: string | null | undefined;
  readonly approvalPolicy: WireApproval;
  readonly sandbox: WireSandbox;
  readonly cwd: string;
}): ReportedSettings {
  return {
    model: wire.model ?? null,
    effort: wire.effort ?? null,
    approval: typeof wire.approvalPolicy === 'string' ? wire.approvalPolicy : firstKey(wire.approvalPolicy),
    sandbox: sandboxMode(wire.sandbox),
    cwd: wire.cwd,
    isWiderThanItsMode: wire.sandbox.type === 'readOnly' && wire.sandbox.networkAccess === true,
  };
}

/** Compares what was asked with what is so. Pure; the caller repairs and reads back. */
export function reviewRights(asked: AskedSettings, reported: ReportedSettings): RightsReview {
  const repair: Record<string, unknown> = {};
  if (reported.sandbox !== asked.sandbox || reported.isWiderThanItsMode) {
    repair.sandboxPolicy = sandboxPolicy(asked.sandbox);
  }
  if (reported.approval !== asked.approval) repair.approvalPolicy = asked.approval;
  if (asked.model !== undefined && reported.model !== asked.model) repair.model = asked.model;
  if (asked.effort !== undefined && reported.effort !== asked.effort) repair.effort = asked.effort;
  if (asked.cwd !== undefined && reported.cwd !== asked.cwd) repair.cwd = asked.cwd;
  return {
    hasDifferences: Object.keys(repair).length > 0,
    tooWide: tooWide(asked, reported),
    repair,
  };
}

/**
 * Overrides for `turn/start`, so that a turn of ours never runs with more than was asked: another client may have
 * widened the thread a moment ago, and the notification of it is still on its way. A writable workspace is left as
 * the thread has it, since its folders and network are the person's.
 */
export function rightsOfTurn({ sandbox, approval }: AskedSettings): Readonly<Record<string, unknown>> {
  if (sandbox !== 'read-only') return { approvalPolicy: approval };
  return { approvalPolicy: approval, sandboxPolicy: sandboxPolicy(sandbox) };
}

function tooWide(asked: AskedSettings, reported: ReportedSettings): string | null {
  const isSandboxWider =
    SANDBOX_WIDTH[reported.sandbox] > SANDBOX_WIDTH[asked.sandbox] ||
    (reported.isWiderThanItsMode && asked.sandbox === 'read-only');
  if (isSandboxWider) {
    const network = reported.isWiderThanItsMode ? ' with network access' : '';
    return `its sandbox is ${reported.sandbox}${network} and ${asked.sandbox} was asked for`;
  }
  if (isApprovalWider(asked.approval, reported)) {
    return `its approval policy is ${reported.approval} and ${asked.approval} was asked for`;
  }
  return null;
}

/**
 * `never` keeps every command inside the sandbox; under the other policies somebody's yes lets one out. So
 * `never` is the narrowest, except with full access, where it means that nobody is asked about anything.
 */
function isApprovalWider(asked: string, reported: ReportedSettings): boolean {
  if (reported.approval === asked) return false;
  if (asked !== 'on-request') return true;
  if (reported.approval === 'untrusted') return false;
  return reported.approval !== 'never' || reported.sandbox === 'danger-full-access';
}

function sandboxMode(wire: WireSandbox): SandboxMode {
  if (wire.type === 'readOnly') return 'read-only';
  if (wire.type === 'workspaceWrite') return 'workspace-write';
  // `externalSandbox` and words to come: whatever confines the thread, it is not what was asked of Codex.
  return 'danger-full-access';
}

function sandboxPolicy(mode: SandboxMode): Record<string, unknown> {
  switch (mode) {
    case 'read-only':
      return { type: 'readOnly', networkAccess: false };
    case 'workspace-write':
      return {
        type: 'workspaceWrite',
        writableRoots: [],
        networkAccess: false,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      };
    case 'danger-full-access':
      return { type: 'dangerFullAccess' };
  }
}

function firstKey(policy: Readonly<Record<string, unknown>>): string {
  return Object.keys(policy)[0] ?? 'unknown';
}
