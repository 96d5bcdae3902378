import { lstatSync } from 'node:fs';
import { connect } from 'node:net';
import { errorCode } from '../errors.ts';

/**
 * What a connection without a byte finds at a socket path: `accepts`; `refuses` (nobody listens any more);
 * `absent` (no socket of ours there); `silent` (full, or no answer within the limit).
 */
export type ProbeResult = 'accepts' | 'refuses' | 'absent' | 'silent';

const LIMIT_MS = 500;

/** Connects and closes at once. A socket of another user, and a link to one, counts as absent. Never rejects. */
export async function probe(socketPath: string, limitMs: number = LIMIT_MS): Promise<ProbeResult> {
  if (!isOurSocket(socketPath)) return 'absent';
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const end = (result: ProbeResult) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(end, limitMs, 'silent');
    socket.once('connect', () => end('accepts'));
    socket.once('error', (error) => end(errorCode(error) === 'ECONNREFUSED' ? 'refuses' : 'silent'));
  });
}

/** Whether a socket of ours is there; another user's, and a link to one, is not. */
export function isOurSocket(path: string): boolean {
  try {
    const stats = lstatSync(path);
    return stats.isSocket() && stats.uid === (process.getuid?.() ?? stats.uid);
  } catch {
    return false;
  }
}
