import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../errors.ts';

type Step = { readonly name: string; readonly limitMs: number; readonly run: () => unknown };

const STEP_MS = 5_000;

/** What must be undone, last in first out. Clean-up always completes: a step that fails or hangs stops none. */
export class Disposer {
  readonly #steps: Step[] = [];
  #running: Promise<Error[]> | null = null;

  /**
   * Adds a step for the end. After `limitMs` the next step begins although this one has not ended. A step that
   * is added while the clean-up runs is run too; one added after it, at once.
   */
  defer(name: string, run: () => unknown, limitMs: number = STEP_MS): void {
    const step = { name, limitMs, run };
    if (this.#running === null) this.#steps.push(step);
    else this.#running = this.#running.then(async (errors) => [...errors, ...(await perform(step))]);
  }

  /** Runs every step once, the newest first. Resolves to the errors, each naming its step; never rejects. */
  async run(): Promise<Error[]> {
    this.#running ??= this.#runAll();
    const running = this.#running;
    const errors = await running;
    return running === this.#running ? errors : this.run();
  }

  async #runAll(): Promise<Error[]> {
    const errors: Error[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      errors.push(...(await perform(step)));
    }
    return errors;
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
