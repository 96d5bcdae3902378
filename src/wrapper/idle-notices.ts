import { randomUUID } from 'node:crypto';
import type { FromMode, IdleState } from '../frames/message.ts';
import { controlFrame } from '../frames/send.ts';
import { type Subscription, subscribe, withoutExpired } from '../queue/subscriptions.ts';
import type { Outbox } from './outbox.ts';

/** Claude Code 2.1.332 waits 0.75 s; long enough for an answer to be read before the notice. */
const QUIET_MS = 400;
/** Claude Code 2.1.332 cuts it here. */
const DETAIL_CHARS = 100;

export interface IdleNoticesOptions {
  readonly socketPath: string;
  readonly fromMode: () => FromMode;
  /** Nothing runs, waits, is claimed or is being written. */
  readonly isQuiet: () => boolean;
  readonly outbox: Outbox;
}

/** What the newest turn left, for the notice. */
export interface LastTurn {
  readonly finishedAtMs: number;
  readonly answer: string | null;
}

/** One notice per subscription, when the peer is next quiet, after the answers of its last turn. */
export class IdleNotices {
  readonly #options: IdleNoticesOptions;
  #subscriptions: readonly Subscription[] = [];
  #timer: NodeJS.Timeout | undefined;
  #lastTurn: LastTurn | null = null;
  #isClosed = false;

  constructor(options: IdleNoticesOptions) {
    this.#options = options;
  }

  subscribe(subscription: Subscription): void {
    if (this.#isClosed) return this.#notify(subscription, 'exited');
    const { subscriptions, displaced } = subscribe(this.#subscriptions, subscription);
    this.#subscriptions = subscriptions;
    for (const one of displaced) this.#notify(one, 'unavailable');
    this.changed();
  }

  turnEnded(lastTurn: LastTurn): void {
    this.#lastTurn = lastTurn;
  }

  /** Looks whether the peer is quiet now; to be called whenever that may have changed. */
  changed(): void {
    clearTimeout(this.#timer);
    if (this.#subscriptions.length === 0 || !this.#options.isQuiet()) return;
    this.#timer = setTimeout(() => this.#onQuiet(), QUIET_MS);
  }

  /** Tells every subscriber that the peer ends, those to come too. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const one of this.#take()) this.#notify(one, 'exited');
  }

  #onQuiet(): void {
    if (!this.#options.isQuiet()) return;
    for (const one of this.#take()) this.#notify(one, 'idle');
  }

  #take(): readonly Subscription[] {
    const { kept, expired } = withoutExpired(this.#subscriptions, Date.now());
    this.#subscriptions = [];
    for (const one of expired) this.#notify(one, 'unavailable');
    return kept;
  }

  #notify(to: Subscription, state: IdleState): void {
    const { outbox, socketPath } = this.#options;
    const fromMode = this.#options.fromMode();
    const last = state === 'idle' ? this.#lastTurn : null;
    const isSameClass = (to.fromMode ?? 'prompting') === fromMode;
    const detail = isSameClass ? last?.answer : undefined;
    const frame = controlFrame(randomUUID(), {
      action: 'peer_idle_notice',
      origMsgId: to.msgId,
      state,
      from: socketPath,
      fromMode,
      ...(last === null ? {} : { finishedAtMs: last.finishedAtMs }),
      ...(detail ? { detail: firstLine(detail) } : {}),
    });
    const { pid, procStart } = to;
    void outbox.send({ socketPath: to.socketPath, pid, procStart, sessionId: null }, frame);
  }
}

function firstLine(text: string): string {
  const line = text.split('\n').find((one) => one.trim() !== '') ?? '';
  return line
    .replace(/[<>"[\]\p{Cc}]/gu, '')
    .trim()
    .slice(0, DETAIL_CHARS);
}
