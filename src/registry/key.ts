import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TOKEN = /^[0-9a-f]{32}$/;

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
 */
export function readToken(sessionsDir: string, socketPath: string): string | null {
  const suffix = `.${socketHash(socketPath)}.key`;
  for (const file of filesOf(sessionsDir)) {
    const token = file.endsWith(suffix) ? tokenIn(join(sessionsDir, file)) : null;
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
    const key: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof key !== 'object' || key === null || !('peerToken' in key)) return null;
    return typeof key.peerToken === 'string' && TOKEN.test(key.peerToken) ? key.peerToken : null;
  } catch {
    return null;
  }
}
