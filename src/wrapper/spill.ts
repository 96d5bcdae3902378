import { lstatSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LIMITS } from '../limits.ts';
import { ensurePrivateDir } from '../os/folders.ts';

/** Keeps a text too long to be shown whole in a 0600 file of its own; returns the path. */
export function spill(dir: string, id: string, text: string): string {
  ensurePrivateDir(dir);
  const file = join(dir, `${id}.txt`);
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  return file;
}

/** Removes kept texts older than `LIMITS.textsMs`; what cannot be removed stays. */
export function removeOldTexts(dir: string, nowMs: number): void {
  for (const name of namesIn(dir)) {
    const file = join(dir, name);
    try {
      if (nowMs - lstatSync(file).mtimeMs > LIMITS.textsMs) unlinkSync(file);
    } catch {
      // Gone already, or not ours.
    }
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

/** The beginning of a kept text, at most `headBytes` and cut between characters, with its size and its file. */
export function excerpt(text: string, file: string, headBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  let end = Math.min(headBytes, bytes.length);
  while (end > 0 && isContinuation(bytes[end])) end--;
  return `${bytes.toString('utf8', 0, end)}\n\n[The text goes on: ${bytes.length} bytes in all, in the file ${file}]`;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
