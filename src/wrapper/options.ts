import type { SandboxMode } from '../harness/harness.ts';

export type ApprovalPolicy = 'never' | 'on-request' | 'untrusted' | 'on-failure';

/** What a person asked for with `peer open`, checked. */
export interface OpenOptions {
  /** 1–64 letters, digits, blanks, `.`, `_`, `-`. */
  readonly name: string;
  /** No TUI; stays until it is closed. */
  readonly headless: boolean;
  /** This process was started by `--detach` and has no terminal. */
  readonly detach: boolean;
  /** This process runs in a tmux window that `--window` made for it. */
  readonly window: boolean;
  readonly model?: string;
  readonly effort?: string;
  readonly sandbox: SandboxMode;
  readonly approval: ApprovalPolicy;
  /** Absolute path of an existing folder; without it a known thread keeps its own. */
  readonly cwd?: string;
  /** A new thread even though the name has one. */
  readonly fresh: boolean;
  /** UUID of the thread to resume, whatever the name's own thread is. */
  readonly threadId?: string;
  /** Folder trust is written instead of asked. */
  readonly trust: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream & { readonly fd: number };
  readonly stdout: NodeJS.WriteStream & { readonly fd: number };
  readonly stderr: NodeJS.WriteStream;
}
