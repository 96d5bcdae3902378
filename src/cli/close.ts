import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT, errorCode, PeerError } from '../errors.ts';
import { isSameProcess, pidDomain } from '../os/proc.ts';
import { findPeer } from '../registry/find.ts';
import { isWrapped } from '../registry/kind.ts';
import { liveRows } from '../registry/live.ts';
import { sameName } from '../registry/names.ts';
import { places } from '../registry/places.ts';
import type { Row } from '../registry/row.ts';
import { sweep } from '../registry/sweep.ts';
import { closeWindow } from '../wrapper/window.ts';
import { type Io, print } from './io.ts';

const CLOSE_MS = 8_000;
const POLL_MS = 50;

/**
 * Ends the wrapper of that name, by its window or by SIGTERM, and waits until its process and row are gone.
 *
 * @throws PeerError `no-such-peer`, `refused` (not one of ours), `still-running`
 */
export async function close(name: string, io: Io): Promise<number> {
  const { sessionsDir } = places(io.env);
  const row = await findOurs(sessionsDir, name);
  if (!(await closeWindow(row).catch(() => false))) terminate(row);
  if (!(await hasEnded(row))) throw stillRunning(row);
  // One that was killed on its way has left its row.
  await sweep(sessionsDir);
  print(io.stdout, `${row.name} is closed`);
  return EXIT.ok;
}

async function findOurs(sessionsDir: string, name: string): Promise<Row> {
  const rows = await liveRows(sessionsDir);
  const ours = rows.filter(isWrapped);
  const row = findPeer(ours.some((one) => isMeant(one, name)) ? ours : rows, name);
  if (!isWrapped(row)) {
    const how = 'End it in its own window; `peer close` ends only what `peer open` made.';
    throw new PeerError(
      'refused',
      `${row.name} (pid ${row.pid}) is not a peer of ours but a session of its own.\n${how}`,
    );
  }
  if (row.pidDomain !== undefined && row.pidDomain !== pidDomain()) {
    throw new PeerError(
      'refused',
      `${row.name} runs in another container or on another machine. Close it there.`,
    );
  }
  return row;
}

function isMeant(row: Row, name: string): boolean {
  return sameName(row.name, name) || String(row.pid) === name;
}

/** SIGCONT lets a stopped wrapper see the SIGTERM. */
function terminate(row: Row): void {
  if (!isSameProcess(row.pid, row.procStart)) return;
  try {
    process.kill(row.pid, 'SIGTERM');
    process.kill(row.pid, 'SIGCONT');
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}

async function hasEnded(row: Row): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < CLOSE_MS; waitedMs += POLL_MS) {
    if (!isSameProcess(row.pid, row.procStart)) return true;
    await sleep(POLL_MS);
  }
  return false;
}

function stillRunning(row: Row): PeerError {
  const what = `${row.name} (pid ${row.pid}) was told to close and still runs after ${CLOSE_MS / 1000} s.`;
  return new PeerError(
    'still-running',
    `${what}\nLook at its window; \`kill -9 ${row.pid}\` ends it at once, queued senders are then told nothing.`,
  );
}
