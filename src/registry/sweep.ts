import { lstatSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { removeFile } from '../os/atomic.ts';
import { probe } from '../os/probe.ts';
import { isSameProcess, pidDomain } from '../os/proc.ts';
import { smallFileOrNull } from '../os/small-file.ts';
import { BRIDGE, parseRow, type Row } from './row.ts';

const ROW_OR_KEY = /^([1-9]\d{0,9})(?:\.json|\.[0-9a-f]{64}\.key)$/;

/**
 * Removes what wrappers of ours left behind when they were killed: rows and keys with our marker and our pid
 * domain whose process is dead or whose pid is another's now, and sockets named in them on which nobody
 * listens. Nobody else does it. Nothing of anybody else is touched. Never rejects.
 * @returns the pids whose rows or keys were removed
 */
export async function sweep(sessionsDir: string): Promise<number[]> {
  const domain = pidDomain();
  const swept = new Set<number>();
  for (const file of rowsBeforeKeys(sessionsDir)) {
    const path = join(sessionsDir, file);
    const text = smallFileOrNull(path);
    // A key of ours carries the same fields as a row.
    const left = text === null ? null : parseRow(text, Number.parseInt(file, 10));
    if (left === null || !isLeftByUs(left, domain)) continue;
    // The pid may be another's now, who may just have written its own row.
    if (smallFileOrNull(path) !== text || !tryRemove(path)) continue;
    swept.add(left.pid);
    await removeSocket(left);
  }
  return [...swept];
}

function isLeftByUs(row: Row, domain: string): boolean {
  const isOurs = row.bridge === BRIDGE && row.pidDomain === domain && row.procStart !== undefined;
  return isOurs && !isSameProcess(row.pid, row.procStart);
}

async function removeSocket({ pid, messagingSocketPath: path }: Row): Promise<void> {
  if (!path || basename(path) !== `${pid}.sock` || (await probe(path)) !== 'refuses') return;
  const isSocket = lstatOrNull(path)?.isSocket() ?? false;
  if (isSocket) tryRemove(path);
}

function rowsBeforeKeys(dir: string): string[] {
  try {
    const files = readdirSync(dir).filter((file) => ROW_OR_KEY.test(file));
    return files.sort((a, b) => Number(b.endsWith('.json')) - Number(a.endsWith('.json')));
  } catch {
    return [];
  }
}

function lstatOrNull(path: string) {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

function tryRemove(path: string): boolean {
  try {
    return removeFile(path);
  } catch {
    return false;
  }
}
