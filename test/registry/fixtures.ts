import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pidDomain, processStart } from '../../src/os/proc.ts';
import type { Places } from '../../src/registry/places.ts';
import { BRIDGE, type Row } from '../../src/registry/row.ts';
import { tempFolder } from '../os/fixtures.ts';

export const TOKEN = '0123456789abcdef0123456789abcdef';
export const THREAD = '0b9c7a52-1111-4222-8333-944455566677';

export interface Registry extends Places, Disposable {}

/** A person's registry in a temporary folder. */
export function registry(): Registry {
  const folder = tempFolder();
  const configDir = folder.path;
  const dirs = {
    sessionsDir: join(configDir, 'sessions'),
    threadsDir: join(configDir, 'codex-peer-threads'),
    socketDir: join(configDir, 'cc-socks'),
  };
  for (const dir of Object.values(dirs)) mkdirSync(dir, { mode: 0o700 });
  return { configDir, ...dirs, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

/** A row of ours for a living process. */
export function rowOf(pid: number, fields: Partial<Row> = {}): Row {
  const procStart = processStart(pid) ?? '1';
  return { pid, name: 'Sol', procStart, pidDomain: pidDomain(), bridge: BRIDGE, ...fields };
}

export function writeRow(at: Places, row: Row): string {
  return writeRowText(at, row.pid, JSON.stringify(row));
}

export function writeRowText(at: Places, pid: number, text: string): string {
  const file = join(at.sessionsDir, `${pid}.json`);
  writeFileSync(file, text);
  return file;
}
