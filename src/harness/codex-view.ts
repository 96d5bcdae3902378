import { PeerError } from '../errors.ts';
import { threadResponse } from '../rpc/protocol.ts';
import { toThreadStatus } from './codex-events.ts';
import {
  type AskedSettings,
  type ReportedSettings,
  type RightsReview,
  readSettings,
  reviewRights,
} from './codex-rights.ts';
import type { ThreadStatus } from './harness.ts';

/** How long after the thread's idle status the end of its last turn may be stored (Codex 0.171.0: 350 ms seen). */
const REST_MS = 2_000;

/** What one connection knows of its thread, from responses and notifications in frame order. */
export class ThreadView {
  readonly #asked: AskedSettings;
  readonly #idleWaiters: { resolve(): void; reject(error: Error): void }[] = [];
  #statusCount = 0;
  /** When a status was last told; null before the first. */
  #changedAtMs: number | null = null;
  status: ThreadStatus = { type: 'idle' };
  settings: ReportedSettings | null = null;
  isLegacy = false;

  constructor(asked: AskedSettings) {
    this.#asked = asked;
  }

  /**
   * Called when a request is sent; what it returns takes the response. A status that was notified in between
   * is newer than the response's, which is then left alone.
   */
  expectResponse(): (result: unknown) => void {
    const statusCount = this.#statusCount;
    return (result) => {
      const response = threadResponse.parse(result);
      this.isLegacy = response.thread.historyMode === 'legacy';
      this.settings = readSettings({ ...response, effort: response.reasoningEffort });
      const status = toThreadStatus(response.thread.status);
      if (status !== null && statusCount === this.#statusCount) this.status = status;
    };
  }

  changeStatus(status: ThreadStatus): void {
    this.#statusCount += 1;
    this.status = status;
    this.#changedAtMs = performance.now();
    if (status.type === 'idle') for (const waiter of this.#idleWaiters.splice(0)) waiter.resolve();
  }

  /** Whether it is idle, and not only just now. */
  hasRested(): boolean {
    const hasJustChanged = this.#changedAtMs !== null && performance.now() - this.#changedAtMs < REST_MS;
    return this.status.type === 'idle' && !hasJustChanged;
  }

  /** Resolves when the thread is idle; rejects when `end` is called first. */
  idle(): Promise<void> {
    if (this.status.type === 'idle') return Promise.resolve();
    return new Promise((resolve, reject) => this.#idleWaiters.push({ resolve, reject }));
  }

  /** The connection is gone, and nothing more will be known. */
  end(): void {
    const error = new PeerError('connection-closed', 'The connection to the Codex daemon ended.');
    for (const waiter of this.#idleWaiters.splice(0)) waiter.reject(error);
  }

  /** Before anything is known, everything is too wide. */
  review(): RightsReview {
    if (this.settings === null)
      return { hasDifferences: true, tooWide: 'its rights are not known', repair: {} };
    return reviewRights(this.#asked, this.settings);
  }
}
