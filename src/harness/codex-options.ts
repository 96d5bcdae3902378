import type { AskedSettings } from './codex-rights.ts';

export interface CodexThreadOptions {
  readonly codexHome: string;
  /** Absolute path of what runs Codex (`findCodex`); null when there is none. */
  readonly codexPath: string | null;
  /** The installed version, for the log line that says that the daemon's is another one. */
  readonly codexVersion?: string | null;
  readonly env: NodeJS.ProcessEnv;
  /** Our version, as the daemon is told. */
  readonly clientVersion: string;
  /** The peer's name, which a new thread is given. */
  readonly name: string;
  readonly thread:
    | { readonly kind: 'resume'; readonly id: string }
    | { readonly kind: 'start'; readonly cwd: string };
  readonly asked: AskedSettings;
  /** Before a pane asks, the daemon is told that the thread's folder is trusted. */
  readonly trust?: boolean;
  /**
   * Our tools, in the form of `thread/start`: a new thread gets them, an existing one keeps those it was started
   * with (Codex 0.171.0). Calls of these names are ours to answer on either.
   */
  readonly dynamicTools?: readonly { readonly name: string }[];
  /** No pane is attached at first. */
  readonly headless: boolean;
  readonly log: { write(event: string, fields: Record<string, unknown>): void };
  readonly signal: AbortSignal;
  /** Instead of `<codexHome>/app-server-control/app-server-control.sock`. */
  readonly socketPath?: string;
  /** Instead of `codex app-server daemon start`; resolves with its report, if it has one. */
  readonly startDaemon?: () => Promise<unknown>;
}
