import { readlinkSync } from 'node:fs';
import { codexNotFound } from '../rpc/daemon.ts';
import type { CodexThreadOptions } from './codex-options.ts';
import type { PaneCommand } from './harness.ts';

/** What a socket address holds on every system; Linux takes 107. */
const SOCKET_PATH_BYTES = 103;

/**
 * The Codex TUI on `threadId`, without its questions about updates and the working directory (Codex 0.171.0).
 * Throws PeerError `codex-not-found` when there is no Codex to run.
 */
export function paneCommand(
  options: CodexThreadOptions,
  socketPath: string,
  threadId: string,
  cwd: string,
): PaneCommand {
  const { codexPath, codexHome, env } = options;
  if (codexPath === null) throw codexNotFound();
  return {
    file: codexPath,
    args: [
      ...['--remote', `unix://${connectable(socketPath)}`],
      ...['-C', cwd],
      ...['-c', 'check_for_update_on_startup=false'],
      ...['-c', 'tui.resume_cwd="session"'],
      ...['resume', threadId],
    ],
    cwd,
    env: { ...env, CODEX_HOME: codexHome },
  };
}

/** The path itself, which outlives a daemon, or what it links to when it is too long to connect to. */
function connectable(socketPath: string): string {
  if (Buffer.byteLength(socketPath) <= SOCKET_PATH_BYTES) return socketPath;
  try {
    return readlinkSync(socketPath);
  } catch {
    return socketPath;
  }
}
