import { lstatSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { homeDir } from '../os/folders.ts';

/** Where peers of this person publish themselves. Nothing here is created. */
export interface Places {
  readonly configDir: string;
  /** Rows and keys. */
  readonly sessionsDir: string;
  /** One file per peer name, its content the Codex thread id. */
  readonly threadsDir: string;
  /** Sockets. */
  readonly socketDir: string;
}

/** Linux has 108 bytes for a socket path, macOS 104, both with the final zero. */
const SOCKET_PATH_BYTES = 103;

/**
 * The folders as Claude Code 2.1.332 chooses them: `CLAUDE_CONFIG_DIR` or `~/.claude`; sockets in
 * `$XDG_RUNTIME_DIR/cc-socks`, else `<tmp>/cc-socks`, and in `/tmp/cc-socks-<uid>` when that path is too long
 * for a socket or could be changed by somebody else. Claude sends receipts and idle notices only to its own
 * socket folder and these standard ones.
 */
export function places(env: NodeJS.ProcessEnv): Places {
  const configDir = env.CLAUDE_CONFIG_DIR || join(homeDir(env), '.claude');
  return {
    configDir,
    sessionsDir: join(configDir, 'sessions'),
    threadsDir: join(configDir, 'codex-peer-threads'),
    socketDir: socketDir(env),
  };
}

/** The socket of a process of ours. Claude takes only `<pid>.sock` for one that can be answered. */
export function socketPath(at: Pick<Places, 'socketDir'>, pid: number): string {
  const path = join(at.socketDir, `${pid}.sock`);
  return fits(path) ? path : join(fallbackDir(), `${pid}.sock`);
}

function socketDir(env: NodeJS.ProcessEnv): string {
  const tmp = env.CLAUDE_CODE_TMPDIR || env.TMPDIR || '/tmp';
  const dir = join(env.XDG_RUNTIME_DIR || tmp, 'cc-socks');
  return fits(join(dir, `${process.pid}.sock`)) && isOnlyOurs(dir) ? dir : fallbackDir();
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= SOCKET_PATH_BYTES;
}

function fallbackDir(): string {
  return `/tmp/cc-socks-${process.getuid?.() ?? 0}`;
}

/** Whether nobody else owns the folder or could put another in its place. A folder still missing is fine. */
function isOnlyOurs(dir: string): boolean {
  const stats = lstatOrNull(dir);
  if (stats !== null && stats.uid !== process.getuid?.()) return false;
  for (let path = dir; ; path = dirname(path)) {
    if (canBeReplaced(lstatOrNull(path))) return false;
    if (path === dirname(path)) return true;
  }
}

function canBeReplaced(stats: Stats | null): boolean {
  if (stats === null || stats.isSymbolicLink()) return false;
  const isWritableByOthers = (stats.mode & 0o022) !== 0;
  const isSticky = (stats.mode & 0o1000) !== 0;
  return isWritableByOthers && !isSticky;
}

function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}
