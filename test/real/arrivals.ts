import { setTimeout as sleep } from 'node:timers/promises';

/** Things that arrive one after another and can be waited for, those of the past included. */
export class Arrivals<T> {
  readonly all: T[] = [];
  readonly #line: (thing: T) => string;
  readonly #waiting = new Set<() => void>();

  constructor(line: (thing: T) => string) {
    this.#line = line;
  }

  add(thing: T): void {
    this.all.push(thing);
    for (const look of this.#waiting) look();
  }

  /** The first thing from `from` on that matches; rejects with a list of everything when none came in time. */
  async wait(matches: (thing: T) => boolean, wanted: string, timeoutMs: number, from = 0): Promise<T> {
    const timer = new AbortController();
    let look = (): void => {};
    const found = new Promise<T>((resolve) => {
      look = () => {
        const thing = this.all.slice(from).find(matches);
        if (thing !== undefined) resolve(thing);
      };
    });
    this.#waiting.add(look);
    look();
    const late = sleep(timeoutMs, null, { signal: timer.signal }).catch(() => null);
    const first = await Promise.race([found, late]);
    this.#waiting.delete(look);
    timer.abort();
    if (first !== null) return first;
    throw new Error(`${wanted} did not come within ${timeoutMs} ms; what came:\n${this.describe()}`);
  }

  describe(): string {
    return this.all.map((thing, at) => `${at + 1}. ${this.#line(thing)}`).join('\n') || '(nothing)';
  }
}
