import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { LIMITS } from '../limits.ts';

/**
 * The text of a regular file of at most `LIMITS.smallFileBytes`, for folders that other programs write in: a fifo, a
 * device or a link to one must neither stop this process nor fill its memory.
 *
 * @throws the system's error, or one that says why it is no such file
 */
export function readSmallFile(path: string): string {
  // O_NONBLOCK: opening a fifo must not wait for its writer.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(fd).isFile()) throw new Error(`${path} is not a regular file`);
    return readText(fd, path);
  } finally {
    closeSync(fd);
  }
}

/** The same, and null when it is gone, unreadable or no such file. */
export function smallFileOrNull(path: string): string | null {
  try {
    return readSmallFile(path);
  } catch {
    return null;
  }
}

/** Reads to the end and not by the size that was told: it may grow, and files in /proc tell none. */
function readText(fd: number, path: string): string {
  const bytes = Buffer.allocUnsafe(LIMITS.smallFileBytes + 1);
  let length = 0;
  let read: number;
  do {
    read = readSync(fd, bytes, length, bytes.length - length, null);
    length += read;
  } while (read > 0 && length < bytes.length);
  if (length > LIMITS.smallFileBytes)
    throw new Error(`${path} is larger than ${LIMITS.smallFileBytes} bytes`);
  return bytes.toString('utf8', 0, length);
}
