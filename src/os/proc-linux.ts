import { readFileSync, readlinkSync } from 'node:fs';
import type { ProcessEntry } from './proc.ts';

export function readProcess(pid: number): ProcessEntry | null {
  const stat = readOr(`/proc/${pid}/stat`, '');
  // The second field is the program's name in parentheses and may itself hold blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const start = fields[19];
  return state === undefined || start === undefined ? null : { state, start };
}

export function pidDomain(): string {
  const machineId = readOr('/etc/machine-id', '').trim() || readOr('/var/lib/dbus/machine-id', '').trim();
  return `linux:${machineId}:${readlinkSync('/proc/self/ns/pid')}`;
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return otherwise;
  }
}
