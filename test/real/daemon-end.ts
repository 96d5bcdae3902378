import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { send, untilGone } from './processes.ts';

/**
 * Ends the daemon and its updater that Codex recorded in this CODEX_HOME, and removes what a killed server
 * leaves outside of it. `daemon stop` would leave the updater.
 */
export async function endDaemon(codexHome: string): Promise<void> {
  for (const file of ['daemon-updater.pid', 'daemon.pid'] as const) {
    const pid = recordedPid(codexHome, file);
    if (pid === null) continue;
    send(pid, 'SIGTERM');
    if (await untilGone(pid, 500)) continue;
    send(pid, 'SIGKILL');
    await untilGone(pid, 2_000);
  }
  await removeSocket(codexHome);
}

/** The pid in one of Codex's pid files, if that very process still lives. */
export function recordedPid(codexHome: string, name: 'daemon.pid' | 'daemon-updater.pid'): number | null {
  try {
    const file = join(codexHome, 'app-server-daemon', name);
    const { pid, processIdentity } = JSON.parse(readFileSync(file, 'utf8'));
    const started = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19];
    return started === String(processIdentity.startTicks) ? pid : null;
  } catch {
    return null;
  }
}

/** Codex 0.171.0 listens in /tmp whatever TMPDIR says, under the hash of the path that it was given. */
async function removeSocket(codexHome: string): Promise<void> {
  const link = join(codexHome, 'app-server-control', 'app-server-control.sock');
  const hash = createHash('sha256').update(link).digest('hex');
  const socket = join('/tmp', `codex-daemon-${process.getuid?.()}`, hash);
  await Promise.all([socket, `${socket}.lock`].map((file) => rm(file, { force: true })));
}
