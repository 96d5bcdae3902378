import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../errors.ts';
import type { Pane, PaneExit } from './pane.ts';

/** A TUI that lived shorter counts against the restarts. */
export const RAPID_MS = 10_000;
const RESTART_DELAYS_MS = [0, 500, 2_000];

export type PaneVerdict =
  /** The person closed the pane, or the terminal went away: the peer closes. */
  | { readonly action: 'close' }
  | { readonly action: 'restart'; readonly delayMs: number; readonly rapidRestarts: number }
  /** The peer goes on without a pane; `reason` reads after "without its pane:". */
  | { readonly action: 'headless'; readonly reason: string };

/**
 * What follows when a TUI has ended: at most three restarts in a row, unless one of them lived 10 s.
 *
 * @param rapidRestarts restarts so far, each after a life shorter than that
 */
export function afterExit(exit: PaneExit, livedMs: number, rapidRestarts: number): PaneVerdict {
  if (exit.code === 0 || exit.signal === 'SIGHUP') return { action: 'close' };
  const count = livedMs < RAPID_MS ? rapidRestarts : 0;
  const delayMs = RESTART_DELAYS_MS[count];
  if (delayMs !== undefined) return { action: 'restart', delayMs, rapidRestarts: count + 1 };
  return { action: 'headless', reason: `${describe(exit)}, ${count + 1} times in a row` };
}

function describe({ code, signal }: PaneExit): string {
  if (signal === 'SIGKILL') return 'it was killed (SIGKILL; often the machine is out of memory)';
  return signal === null ? `it ended with status ${code}` : `it was killed by ${signal}`;
}

export interface PaneKeeperOptions {
  readonly open: () => Promise<Pane>;
  readonly log: { write(event: string, fields: Record<string, unknown>): void };
  /** Called at most once, and not after `end()`. */
  readonly onClosed: () => void;
  /** Called at most once, when no TUI owns the terminal any more, and not after `end()`. */
  readonly onHeadless: (reason: string) => void;
  /** A clock that never goes back, in milliseconds. */
  readonly now?: () => number;
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

/** Keeps one TUI in the terminal: restarts it after a crash, never in a loop. */
export class PaneKeeper {
  readonly #options: PaneKeeperOptions;
  readonly #now: () => number;
  readonly #wait: (delayMs: number, signal: AbortSignal) => Promise<void>;
  readonly #ending = new AbortController();
  #pane: Pane;
  #openedAt: number;
  readonly #done: Promise<void>;

  /** Rejects as `open` does when the first TUI cannot be started. */
  static async open(options: PaneKeeperOptions): Promise<PaneKeeper> {
    return new PaneKeeper(await options.open(), options);
  }

  private constructor(pane: Pane, options: PaneKeeperOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#wait = options.wait ?? ((delayMs, signal) => sleep(delayMs, undefined, { signal }));
    this.#pane = pane;
    this.#openedAt = this.#now();
    this.#done = this.#keep();
  }

  /** Ends the TUI and restarts none. Resolves when it is gone and the terminal restored; never rejects. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#pane.end();
    await this.#done;
  }

  async #keep(): Promise<void> {
    const { log, onClosed, onHeadless } = this.#options;
    for (let rapidRestarts = 0; ; ) {
      const exit = await this.#pane.exited;
      if (this.#ending.signal.aborted) return;
      const livedMs = this.#now() - this.#openedAt;
      const verdict = afterExit(exit, livedMs, rapidRestarts);
      log.write('pane-exited', { ...exit, livedMs: Math.round(livedMs), action: verdict.action });
      if (verdict.action === 'close') return onClosed();
      if (verdict.action === 'headless') return onHeadless(verdict.reason);

      rapidRestarts = verdict.rapidRestarts;
      const failure = await this.#restart(verdict.delayMs);
      if (this.#ending.signal.aborted) return;
      if (failure !== null) return onHeadless(failure);
    }
  }

  /** Why no TUI could be started again, or null. One that starts while we end is ended at once. */
  async #restart(delayMs: number): Promise<string | null> {
    const { signal } = this.#ending;
    try {
      await this.#wait(delayMs, signal);
      if (signal.aborted) return null;
      this.#pane = await this.#options.open();
      this.#openedAt = this.#now();
      if (signal.aborted) await this.#pane.end();
      return null;
    } catch (error) {
      return errorMessage(error);
    }
  }
}
