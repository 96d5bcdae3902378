import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, errorMessage, PeerError } from '../errors.ts';
import { removeFile, writeAtomic } from '../os/atomic.ts';
import { ensureOwnDir } from '../os/folders.ts';
import { readSmallFile } from '../os/small-file.ts';
import { checkName, sameName } from './names.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The thread a peer name had last, looked up without case. Null when none is recorded or what is recorded is
 * no UUID.
 * @throws PeerError `bad-name`; `folder-unreadable`, because a new thread in its place would be a silent loss
 */
export function recordedThread(threadsDir: string, name: string): string | null {
  checkName(name);
  try {
    const file = filesFor(threadsDir, name)[0];
    if (file === undefined) return null;
    const id = readSmallFile(join(threadsDir, file)).trim();
    return UUID.test(id) ? id.toLowerCase() : null;
  } catch (error) {
    throw new PeerError(
      'folder-unreadable',
      `The thread of ${name} cannot be looked up (${errorMessage(error)}), so nothing was opened. ` +
        `See what is wrong with ${threadsDir}, or open with --new.`,
      { cause: error },
    );
  }
}

/**
 * Records the thread of a name in a file of that name (0600), in place of the same name in other case.
 * @throws PeerError `bad-name`, `unsafe-folder`; the system's error
 */
export function recordThread(threadsDir: string, name: string, id: string): void {
  checkName(name);
  if (!UUID.test(id)) throw new TypeError(`not a thread id: ${id}`);
  ensureOwnDir(threadsDir);
  const recorded = join(threadsDir, name);
  writeAtomic(recorded, `${id.toLowerCase()}\n`, 0o600);
  const { ino } = statSync(recorded);
  for (const file of filesFor(threadsDir, name)) {
    const other = join(threadsDir, file);
    // On a file system without case the other name is this very file.
    if (file !== name && statSync(other).ino !== ino) removeFile(other);
  }
}

/** The files that stand for a name, the one in the same case first. */
function filesFor(threadsDir: string, name: string): string[] {
  try {
    const files = readdirSync(threadsDir).filter((file) => sameName(file, name));
    return files.sort((a, b) => Number(b === name) - Number(a === name));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
