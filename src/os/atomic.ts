import { closeSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../errors.ts';

let written = 0;

/**
 * Replaces `file` in one step: a reader sees the old text or the new one, never a part. The text goes to a
 * new file `.<name>.<pid>.<n>.tmp` in the same folder, which is renamed. Throws the system's error and then
 * leaves nothing behind.
 */
export function writeAtomic(file: string, text: string, mode: number): void {
  const temp = openTemp(file, mode);
  try {
    try {
      writeAll(temp.fd, Buffer.from(text, 'utf8'));
    } finally {
      closeSync(temp.fd);
    }
    renameSync(temp.path, file);
  } catch (error) {
    removeFile(temp.path);
    throw error;
  }
}

/** Removes a file; false when it was not there. */
export function removeFile(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return false;
    throw error;
  }
}

function openTemp(file: string, mode: number): { fd: number; path: string } {
  for (;;) {
    written += 1;
    const path = join(dirname(file), `.${basename(file)}.${process.pid}.${written}.tmp`);
    try {
      return { fd: openSync(path, 'wx', mode), path };
    } catch (error) {
      // Left behind by an earlier process with our pid; the next number is free sooner or later.
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  let offset = 0;
  while (offset < bytes.length) offset += writeSync(fd, bytes, offset);
}
