import { type FileHandle, open, rename } from 'node:fs/promises';
import { LIMITS } from '../limits.ts';
import { redactor } from './redact.ts';

/** A peer's log: one JSON object a line, 0600, `<file>` and the older `<file>.1`. It never throws and never waits. */
export interface Log {
  /** Adds a line `{"at":…,"event":…,…fields}`. Long strings are cut, tokens and secrets removed. */
  write(event: string, fields?: Readonly<Record<string, unknown>>): void;
  /** From now on this text never reaches the file. */
  hide(secret: string): void;
  /** Resolves when all that was written before is in the file. */
  close(): Promise<void>;
}

/** A disk that hangs must not fill the memory. */
const PENDING_LINES = 1_000;

/**
 * Opens a log for appending; its folder must exist. Lines are written in the background, in order, so that a
 * process that carries a terminal never waits for the disk. What cannot be written is lost in silence.
 */
export function openLog(file: string, limitBytes: number = LIMITS.logBytes): Log {
  return new FileLog(file, limitBytes);
}

class FileLog implements Log {
  readonly #file: string;
  readonly #limitBytes: number;
  readonly #redactor = redactor();
  #handle: FileHandle | null = null;
  #sizeBytes = 0;
  #pending: string[] = [];
  #lost = 0;
  #isClosed = false;
  #flushing: Promise<void> | null = null;

  constructor(file: string, limitBytes: number) {
    this.#file = file;
    this.#limitBytes = limitBytes;
  }

  write(event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    if (this.#isClosed) return;
    if (this.#pending.length >= PENDING_LINES) {
      this.#lost += 1;
      return;
    }
    this.#pending.push(this.#redactor.line({ at: new Date().toISOString(), event, ...fields }));
    this.#flushing ??= this.#flush();
  }

  hide(secret: string): void {
    this.#redactor.hide(secret);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#flushing;
    await this.#handle?.close().catch(() => {});
    this.#handle = null;
  }

  async #flush(): Promise<void> {
    // Lines of the same tick go out together.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const lines = this.#pending;
      this.#pending = [];
      if (this.#lost > 0) lines.push(this.#redactor.line({ event: 'log-lines-lost', count: this.#lost }));
      this.#lost = 0;
      for (const chunk of chunks(lines, this.#limitBytes)) await this.#append(chunk).catch(() => {});
    }
    this.#flushing = null;
  }

  async #append(text: string): Promise<void> {
    const bytes = Buffer.from(text, 'utf8');
    let handle = await this.#open();
    if (this.#sizeBytes > 0 && this.#sizeBytes + bytes.length > this.#limitBytes) {
      this.#handle = null;
      await handle.close();
      await rename(this.#file, `${this.#file}.1`);
      handle = await this.#open();
    }
    await handle.appendFile(bytes);
    this.#sizeBytes += bytes.length;
  }

  async #open(): Promise<FileHandle> {
    if (this.#handle !== null) return this.#handle;
    const handle = await open(this.#file, 'a', 0o600);
    this.#sizeBytes = (await handle.stat()).size;
    this.#handle = handle;
    return handle;
  }
}

/** Joins lines to pieces of at most a file's size, so that a burst cannot make a file larger than it may be. */
function chunks(lines: readonly string[], limitBytes: number): string[] {
  const joined: string[] = [];
  let chunk = '';
  let chunkBytes = 0;
  for (const line of lines) {
    const lineBytes = Buffer.byteLength(line);
    if (chunk !== '' && chunkBytes + lineBytes > limitBytes) {
      joined.push(chunk);
      chunk = '';
      chunkBytes = 0;
    }
    chunk += line;
    chunkBytes += lineBytes;
  }
  return [...joined, chunk];
}
