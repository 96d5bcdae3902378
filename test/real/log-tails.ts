import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The last lines of every log below a folder, for a failing test. */
export function logTails(folder: string, lines = 40): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const logs = names.filter((name) => /\.(log|jsonl)(\.\d)?$/.test(name));
  return logs.map((name) => `── ${name}\n${tail(join(folder, name), lines)}`).join('\n');
}

export function tail(file: string, lines: number): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
}
