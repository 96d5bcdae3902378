import { writeSync } from 'node:fs';
import { errorCode } from '../errors.ts';

/** Bytes that wait here before the source is asked to pause. */
const FULL_BYTES = 256 * 1024;
const DRAINED_BYTES = 64 * 1024;
const FIRST_RETRY_MS = 1;
const LAST_RETRY_MS = 20;

/**
 * Writes bytes in order to a non-blocking terminal fd. `writeSync` on purpose: a write from the thread pool can
 * hit an fd that was closed and given to another file meanwhile.
 */
export class PaneWriter {
  readonly #fd: number;
  readonly #source: { pause(): unknown; resume(): unknown };
  readonly #queue: Buffer[] = [];
  #pendingBytes = 0;
  #isSourcePaused = false;
  #isStopped = false;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #onEmpty: (() => void) | undefined;

  /** @param source paused while more than 256 KiB wait, resumed under 64 KiB */
  constructor(fd: number, source: { pause(): unknown; resume(): unknown }) {
    this.#fd = fd;
    this.#source = source;
  }

  /** The source is paused; it may hold bytes that never came here. */
  get isFull(): boolean {
    return this.#isSourcePaused;
  }

  write(chunk: Buffer): void {
    if (this.#isStopped || chunk.length === 0) return;
    this.#queue.push(chunk);
    this.#pendingBytes += chunk.length;
    if (this.#retry === undefined) this.#flush();
    this.#throttle();
  }

  /** Resolves when all is written, or after `limitMs` with the rest still waiting. */
  async flushed(limitMs: number): Promise<void> {
    if (this.#pendingBytes === 0) return;
    await new Promise<void>((resolve) => {
      const limit = setTimeout(resolve, limitMs);
      this.#onEmpty = () => {
        clearTimeout(limit);
        resolve();
      };
    });
  }

  /** Nothing is written from now on; the fd stays its owner's. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#queue.length = 0;
    this.#pendingBytes = 0;
    this.#onEmpty?.();
  }

  #flush(): void {
    this.#retry = undefined;
    for (let chunk = this.#queue[0]; chunk; chunk = this.#queue[0]) {
      const written = this.#attempt(chunk);
      if (written === 0) {
        if (!this.#isStopped) this.#retryLater();
        return;
      }
      this.#retryMs = FIRST_RETRY_MS;
      this.#pendingBytes -= written;
      if (written === chunk.length) this.#queue.shift();
      else this.#queue[0] = chunk.subarray(written);
    }
    this.#onEmpty?.();
  }

  /** Bytes taken, 0 when the terminal is full. Any other error means that it is gone. */
  #attempt(chunk: Buffer): number {
    try {
      return writeSync(this.#fd, chunk);
    } catch (error) {
      if (errorCode(error) !== 'EAGAIN') this.stop();
      return 0;
    }
  }

  #retryLater(): void {
    this.#retry = setTimeout(() => {
      this.#flush();
      this.#throttle();
    }, this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  #throttle(): void {
    if (!this.#isSourcePaused && this.#pendingBytes > FULL_BYTES) {
      this.#isSourcePaused = true;
      this.#source.pause();
    } else if (this.#isSourcePaused && this.#pendingBytes < DRAINED_BYTES) {
      this.#isSourcePaused = false;
      this.#source.resume();
    }
  }
}
