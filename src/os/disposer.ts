import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../errors.ts';

type Step = { readonly name: string; readonly limitMs: number; readonly run: () => unknown };

const STEP_MS = 5_000;

/** What must be undone, last in first out. Clean-up always completes: a step that fails or hangs stops none. */
export class Disposer {
  readonly #steps: Step[] = [];
  readonly #errors: Error[] = [];
  #draining: Promise<void> | null = null;

  /**
   * Adds a step for the end. After `limitMs` the next step begins although this one has not ended. A step that
   * is added while the clean-up runs is its next one; one added after it runs at once.
   */
  defer(name: string, run: () => unknown, limitMs: number = STEP_MS): void {
    this.#steps.push({ name, limitMs, run });
    if (this.#draining !== null) void this.run();
  }

  /** Runs every step once, the newest first. Resolves to all errors, each naming its step; never rejects. */
  async run(): Promise<readonly Error[]> {
    this.#draining = (this.#draining ?? Promise.resolve()).then(() => this.#drain());
    await this.#draining;
    return this.#errors;
  }

  async #drain(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      this.#errors.push(...(await perform(step)));
    }
  }
}

async function perform({ name, run, limitMs }: Step): Promise<Error[]> {
  const limit = new AbortController();
  const isLate = delay(limitMs, true, { signal: limit.signal }).catch(() => false);
  try {
    const hasEnded = Promise.resolve(run()).then(() => false);
    if (await Promise.race([hasEnded, isLate])) throw new Error(`not done after ${limitMs} ms`);
    return [];
  } catch (error) {
    return [new Error(`${name}: ${errorMessage(error)}`, { cause: error })];
  } finally {
    limit.abort();
  }
}
