import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, errorMessage, PeerError } from '../errors.ts';
import { probe } from '../os/probe.ts';
import { hasEnded, isSameProcess, isStopped, pidDomain, processState } from '../os/proc.ts';
import { smallFileOrNull } from '../os/small-file.ts';
import { parseRow, type Row } from './row.ts';

/** Claude Code 2.1.332 writes rows in place, so a reader can meet half of one; the rest is there in microseconds. */
const RETRY_AFTER_MS = [5, 20];

/**
 * All rows of the folder, dead ones too. No folder: none. A torn row is read again twice, then left out.
 * @throws PeerError `folder-unreadable`
 */
export async function readRows(sessionsDir: string): Promise<Row[]> {
  const rows: Row[] = [];
  let unread = rowPids(sessionsDir);
  for (const delayMs of [0, ...RETRY_AFTER_MS]) {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    unread = unread.filter((pid) => {
      const text = smallFileOrNull(join(sessionsDir, `${pid}.json`));
      if (text === null) return false;
      const row = parseRow(text, pid);
      if (row !== null) rows.push(row);
      return row === null;
    });
    if (unread.length === 0) break;
  }
  return rows.sort((a, b) => a.pid - b.pid);
}

/** The row of one process, read at once; a torn one is read again on the spot. Null when there is none. */
export function readRow(sessionsDir: string, pid: number): Row | null {
  for (let tries = 0; tries <= RETRY_AFTER_MS.length; tries++) {
    const text = smallFileOrNull(join(sessionsDir, `${pid}.json`));
    const row = text === null ? null : parseRow(text, pid);
    if (text === null || row !== null) return row;
  }
  return null;
}

/** The rows whose process lives. A session without a socket, or still opening, is among them: see `isListed`. */
export async function liveRows(sessionsDir: string): Promise<Row[]> {
  const ours = pidDomain();
  const rows = await readRows(sessionsDir);
  const alive = await Promise.all(rows.map((row) => isAlive(row, ours)));
  return rows.filter((_, index) => alive[index]);
}

/**
 * Whether the peer would take a message now: its socket is ours and accepts, within half a second, and its
 * process is not stopped or ended (the kernel accepts connections for a stopped process). Sends no byte.
 */
export async function isReachable(row: Row): Promise<boolean> {
  if (!row.messagingSocketPath) return false;
  if (!isOfOtherDomain(row, pidDomain())) {
    const state = processState(row.pid);
    if (state === null || hasEnded(state) || isStopped(state)) return false;
  }
  return accepts(row.messagingSocketPath);
}

/** Whether somebody listens on a socket of ours; gives it no byte. */
async function accepts(socketPath: string): Promise<boolean> {
  return (await probe(socketPath)) === 'accepts';
}

async function isAlive(row: Row, ours: string): Promise<boolean> {
  if (!isOfOtherDomain(row, ours)) return isSameProcess(row.pid, row.procStart);
  // A pid of another container or machine cannot be looked up here; its socket can speak for it.
  return row.messagingSocketPath ? accepts(row.messagingSocketPath) : false;
}

function isOfOtherDomain(row: Row, ours: string): boolean {
  return row.pidDomain !== undefined && row.pidDomain !== ours;
}

function rowPids(sessionsDir: string): number[] {
  try {
    return readdirSync(sessionsDir).flatMap((file) => {
      const pid = /^([1-9]\d{0,9})\.json$/.exec(file)?.[1];
      return pid === undefined ? [] : [Number(pid)];
    });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw new PeerError(
      'folder-unreadable',
      `The folder of running sessions cannot be read (${errorMessage(error)}), so no peer can be found ` +
        `and nothing was sent. See what is wrong with ${sessionsDir}.`,
      { cause: error },
    );
  }
}
