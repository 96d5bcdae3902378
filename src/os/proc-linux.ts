import { readFileSync, readlinkSync } from 'node:fs';
import type { ProcessEntry } from './proc.ts';

export function readProcess(pid: number): ProcessEntry | null {
  const stat = readOr(`/proc/${pid}/stat`, '');
  // The second field is the program's name in parentheses and may itself hold blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const start = fields[19];
  if (state === undefined || start === undefined) return null;
  // The first thread becomes a zombie while the others still hold the sockets open.
  const isStillEnding = state === 'Z' && Number(fields[17]) > 1;
  return { state: isStillEnding ? 'R' : state, start };
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
