import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeFile } from '../os/atomic.ts';
import { ensurePrivateDir } from '../os/folders.ts';
import { isOurSocket, probe } from '../os/probe.ts';

const OWN_FILE = /^[1-9]\d{0,9}\.sock$/;

/**
 * Folders for control sockets, the preferred one first. An MCP server of Codex 0.171.0 gets its few variables from
 * the daemon and XDG_RUNTIME_DIR not at all, so no variable has a say: Codex's own daemon listens in /tmp too,
 * whatever TMPDIR says. The second is for a machine where somebody else has taken the name in /tmp.
 */
export function controlFolders(uid: number = process.getuid?.() ?? 0): readonly string[] {
  return [`/tmp/peer-${uid}`, `/run/user/${uid}/peer`];
}

/**
 * Where a wrapper listens; its folder is there and private afterwards.
 * @throws PeerError `unsafe-folder` when none of the folders can be used
 */
export function ownControlSocket(pid: number, folders: readonly string[] = controlFolders()): string {
  const problems: unknown[] = [];
  for (const folder of folders) {
    try {
      ensurePrivateDir(folder);
      return controlSocketIn(folder, pid);
    } catch (error) {
      problems.push(error);
    }
  }
  throw problems[0];
}

/** Where the wrapper with this pid listens; null when there is no socket of ours for it. */
export function findControlSocket(pid: number, folders: readonly string[] = controlFolders()): string | null {
  return folders.map((folder) => controlSocketIn(folder, pid)).find(isOurSocket) ?? null;
}

/**
 * Removes the sockets of wrappers that were killed: nobody listens on them. One on its way is not there yet, since
 * it listens before it gets its name. Never rejects.
 */
export async function sweepControlSockets(folders: readonly string[] = controlFolders()): Promise<void> {
  for (const folder of folders) {
    for (const file of filesIn(folder).filter((name) => OWN_FILE.test(name))) {
      const path = join(folder, file);
      if ((await probe(path)) === 'refuses') tryRemove(path);
    }
  }
}

function controlSocketIn(folder: string, pid: number): string {
  return join(folder, `${pid}.sock`);
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function tryRemove(path: string): void {
  try {
    removeFile(path);
  } catch {
    // Somebody else's folder: their sockets are not ours to remove.
  }
}
