import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readSmallFile } from '../os/small-file.ts';

const TOKEN = /^[0-9a-f]{32}$/;
const PID_SOCKET = /^([1-9]\d{0,9})\.sock$/;

/** What a sender shows to say that it belongs to the same person: 32 lower-case hex digits. */
export function newToken(): string {
  return randomBytes(16).toString('hex');
}

/** The file that holds the token for a socket: `<pid>.<sha256 of the absolute socket path>.key`. */
export function keyFile(sessionsDir: string, pid: number, socketPath: string): string {
  return join(sessionsDir, `${pid}.${socketHash(socketPath)}.key`);
}

/**
 * The token of the peer at a socket, found by the hash in the file's name. Null when there is no such key,
 * it cannot be read, or its token is malformed: then a sender writes no auth line, as Claude Code 2.1.332 does.
 * The key of the process that the socket is named after, or else of `pid`, is the peer's own; a key of any other
 * process counts only where there is none of these, since a wrong token makes a receiver refuse the message.
 *
 * @param pid the process whose row names the socket, where that is known
 */
export function readToken(sessionsDir: string, socketPath: string, pid?: number): string | null {
  const suffix = `.${socketHash(socketPath)}.key`;
  const files = filesOf(sessionsDir).filter((file) => file.endsWith(suffix));
  const named = PID_SOCKET.exec(basename(socketPath))?.[1];
  const owners = [named, pid].filter((owner) => owner !== undefined);
  const own = owners.map((owner) => `${owner}${suffix}`).find((file) => files.includes(file));
  for (const file of own === undefined ? files : [own]) {
    const token = tokenIn(join(sessionsDir, file));
    if (token !== null) return token;
  }
  return null;
}

function socketHash(socketPath: string): string {
  return createHash('sha256').update(socketPath).digest('hex');
}

function filesOf(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function tokenIn(file: string): string | null {
  try {
    const key: unknown = JSON.parse(readSmallFile(file));
    if (typeof key !== 'object' || key === null || !('peerToken' in key)) return null;
    return typeof key.peerToken === 'string' && TOKEN.test(key.peerToken) ? key.peerToken : null;
  } catch {
    return null;
  }
}
