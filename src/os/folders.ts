import { lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { errorMessage, PeerError } from '../errors.ts';

/** The person's home folder; `HOME` first, as Codex and Claude Code do. */
export function homeDir(env: NodeJS.ProcessEnv): string {
  return env.HOME || homedir();
}

/** Where logs and long bodies are kept: `$XDG_STATE_HOME/peer`, else `~/.local/state/peer`. Not created here. */
export function stateDir(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_STATE_HOME || join(homeDir(env), '.local', 'state'), 'peer');
}

/**
 * Creates `dir` (0700) where it is missing and makes sure that only we can get in: a real folder, ours, no
 * access for group or others.
 * @throws PeerError `unsafe-folder` that says what is wrong and what to do.
 */
export function ensurePrivateDir(dir: string): void {
  const stats = createAndStat(dir, lstatSync);
  if (stats.isSymbolicLink()) throw unsafe(dir, 'it is a symbolic link', 'Remove the link.');
  requireOurFolder(dir, stats);
  if ((stats.mode & 0o077) !== 0) {
    throw unsafe(dir, 'other users of this machine can get into it', `Run: chmod 700 ${dir}`);
  }
}

/**
 * Creates `dir` (0700) where it is missing and makes sure that nobody else can change what is in it. For
 * folders that other programs own the shape of: others may read it, and it may be reached through a link.
 * @throws PeerError `unsafe-folder`
 */
export function ensureOwnDir(dir: string): void {
  const stats = createAndStat(dir, statSync);
  requireOurFolder(dir, stats);
  if ((stats.mode & 0o022) !== 0) {
    throw unsafe(dir, 'other users of this machine can write in it', `Run: chmod go-w ${dir}`);
  }
}

function createAndStat(dir: string, stat: (path: string) => Stats): Stats {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    return stat(dir);
  } catch (error) {
    const reason = `it cannot be created (${errorMessage(error)})`;
    throw new PeerError('unsafe-folder', message(dir, reason, 'See what stands in its place.'), {
      cause: error,
    });
  }
}

function requireOurFolder(dir: string, stats: Stats): void {
  if (!stats.isDirectory()) throw unsafe(dir, 'it is not a folder', 'See what stands in its place.');
  const uid = process.getuid?.();
  if (uid !== undefined && stats.uid !== uid) {
    throw unsafe(dir, `it belongs to user ${stats.uid}, not to you`, 'Remove it or choose another place.');
  }
}

function unsafe(dir: string, reason: string, remedy: string): PeerError {
  return new PeerError('unsafe-folder', message(dir, reason, remedy));
}

function message(dir: string, reason: string, remedy: string): string {
  return `The folder ${dir} cannot be used: ${reason}. Nothing was opened or sent. ${remedy}`;
}
