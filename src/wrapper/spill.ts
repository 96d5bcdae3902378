import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePrivateDir } from '../os/folders.ts';

/**
 * A text too long to be shown whole: written to a 0600 file in `dir`; what is returned is its beginning, its size
 * and the path. `headBytes` is cut at a character.
 */
export function spill(dir: string, id: string, text: string, headBytes: number): string {
  ensurePrivateDir(dir);
  const file = join(dir, `${id}.txt`);
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  const bytes = Buffer.from(text, 'utf8');
  return `${headOf(bytes, headBytes)}\n\n[The text goes on: ${bytes.length} bytes in all, in the file ${file}]`;
}

function headOf(bytes: Buffer, count: number): string {
  let end = Math.min(count, bytes.length);
  while (end > 0 && isContinuation(bytes[end])) end--;
  return bytes.toString('utf8', 0, end);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
