import { setTimeout as delay } from 'node:timers/promises';
import { isBusy } from './failure.ts';

/** Between two attempts; random, so that those who wait do not meet again. */
const PAUSE_MS = { least: 5, most: 25 };

/**
 * Tries until the store is not locked, from the event loop: a process that carries a terminal is never held longer
 * than one attempt takes.
 *
 * @param endMs on the clock of `performance.now()`; the last attempt is made at or after it
 */
export async function patiently<Result>(endMs: number, attempt: () => Result): Promise<Result> {
  for (;;) {
    const isLast = performance.now() >= endMs;
    try {
      return attempt();
    } catch (error) {
      if (isLast || !isBusy(error)) throw error;
    }
    await delay(PAUSE_MS.least + Math.random() * (PAUSE_MS.most - PAUSE_MS.least));
  }
}
