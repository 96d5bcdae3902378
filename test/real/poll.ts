import { setTimeout as sleep } from 'node:timers/promises';

/** Calls `look` every 25 ms until it gives something; rejects with `what`, a sentence about the failure. */
export async function poll<T>(
  look: () => T | null | undefined | false,
  timeoutMs: number,
  what: string | (() => string),
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const found = look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (Date.now() > end)
      throw new Error(`after ${timeoutMs} ms: ${typeof what === 'string' ? what : what()}`);
    await sleep(25);
  }
}
