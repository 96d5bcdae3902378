import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { PeerError } from '../errors.ts';
import type { SandboxMode } from '../harness/harness.ts';
import { checkName } from '../registry/names.ts';
import type { ApprovalPolicy, OpenOptions } from '../wrapper/options.ts';
import type { Io } from './io.ts';
import { isAgentShell } from './sender.ts';

/** As commander hands them over. */
export interface OpenFlags {
  readonly headless?: boolean;
  readonly detach?: boolean;
  readonly window?: boolean;
  readonly model?: string;
  readonly effort?: string;
  readonly sandbox: SandboxMode;
  readonly approval: ApprovalPolicy;
  readonly cwd?: string;
  readonly new?: boolean;
  readonly thread?: string;
  readonly trust?: boolean;
  /** Hidden: this process was started by `--detach` or `--window`, which have checked everything. */
  readonly startedBy?: 'detach' | 'window';
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Opens a peer here, in a tmux window of its own, or in the background. */
export async function open(name: string, flags: OpenFlags, io: Io): Promise<number> {
  check(name, flags);
  if (flags.startedBy === undefined) requirePersonFor(flags, io);
  const options = optionsOf(name, flags, io);
  if (flags.window) return (await import('./open-window.ts')).openInWindow(options, io);
  if (flags.detach) return (await import('./open-detached.ts')).openDetached(options, io);
  return (await import('../wrapper/main.ts')).openPeer(options);
}

function check(name: string, flags: OpenFlags): void {
  checkName(name);
  if (flags.detach && !flags.headless) {
    throw usage('--detach goes with --headless: a peer in the background has no screen.');
  }
  if (flags.window && flags.detach) throw usage('--window and --detach exclude each other.');
  if (flags.new && flags.thread !== undefined) {
    throw usage('--new makes a thread and --thread resumes one; give one of them.');
  }
  if (flags.thread !== undefined && !UUID.test(flags.thread)) {
    throw usage(`--thread takes the id of a Codex thread, a UUID, not "${flags.thread}".`);
  }
  if (flags.cwd !== undefined && !isFolder(flags.cwd)) throw usage(`--cwd: there is no folder ${flags.cwd}.`);
}

/** An agent must not widen its own or another agent's rights: these two are a person's decision. */
function requirePersonFor({ trust, sandbox }: OpenFlags, io: Io): void {
  const flag = trust ? '--trust' : sandbox === 'danger-full-access' ? '--sandbox danger-full-access' : null;
  if (flag === null || (io.stdin.isTTY && !isAgentShell(io.env))) return;
  const why = isAgentShell(io.env) ? 'this is the shell of an agent' : 'this is not a terminal';
  throw new PeerError('refused', `${flag} is for a person at a terminal, and ${why}. Nothing was opened.`);
}

function optionsOf(name: string, flags: OpenFlags, io: Io): OpenOptions {
  const { model, effort, sandbox, approval, cwd, thread: threadId, startedBy } = flags;
  return {
    name,
    headless: flags.headless ?? false,
    detach: startedBy === 'detach',
    window: startedBy === 'window',
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
    sandbox,
    approval,
    ...(cwd !== undefined && { cwd: resolve(cwd) }),
    fresh: flags.new ?? false,
    ...(threadId !== undefined && { threadId }),
    trust: flags.trust ?? false,
    env: io.env,
    stdin: io.stdin,
    stdout: io.stdout,
    stderr: io.stderr,
  };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function usage(message: string): PeerError {
  return new PeerError('usage', message);
}
