import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage, PeerError } from '../errors.ts';
import type { Pace } from '../frames/pace.ts';
import { type ControlFrame, sendFrame, type UserFrame } from '../frames/send.ts';
import { LIMITS } from '../limits.ts';
import type { Log } from '../os/log.ts';
import { listenerOf } from '../os/peer-credentials.ts';
import { processStart } from '../os/proc.ts';
import { readToken } from '../registry/key.ts';
import { liveRows } from '../registry/live.ts';
import type { Delivery, ReplyAddress, Written } from '../store/record.ts';

export interface OutboxOptions {
  readonly sessionsDir: string;
  readonly pace: Pace;
  readonly log: Log;
  /** Ends every wait: what is not written then is not sent. */
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** What the pace is kept by. */
export interface Clock {
  /** Milliseconds; never goes back. */
  now(): number;
  /** Rejects when the signal aborts. */
  wait(delayMs: number, signal: AbortSignal): Promise<void>;
}

const CLOCK: Clock = {
  now: () => performance.now(),
  wait: (delayMs, signal) => delay(delayMs, undefined, { signal }),
};

/** What waits to be written to one recipient. */
interface Line {
  last: Promise<unknown>;
  frames: number;
  chars: number;
}

/** Everything this process writes to other peers: in order per recipient, messages at a pace they accept. */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #lines = new Map<string, Line>();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  /**
   * Writes one frame to a process, after everything before it to the same one. Who is there is looked up at the
   * moment of the write. Never rejects.
   *
   * @param mostBefore with more frames waiting for that process this one is not sent
   */
  async send(
    to: ReplyAddress,
    frame: UserFrame | ControlFrame,
    mostBefore: number = LIMITS.outboxFrames,
  ): Promise<Delivery> {
    return (await this.write(to, frame, mostBefore)).delivery;
  }

  /** The same, and says why it was not written. */
  write(
    to: ReplyAddress,
    frame: UserFrame | ControlFrame,
    mostBefore: number = LIMITS.outboxFrames,
  ): Promise<Written> {
    const line = this.#lines.get(to.socketPath) ?? { last: Promise.resolve(), frames: 0, chars: 0 };
    const chars = JSON.stringify(frame).length;
    if (line.frames >= mostBefore || line.chars + chars > LIMITS.outboxChars) {
      this.#options.log.write('outbox-full', { msgId: frame.msg_id, frames: line.frames, chars: line.chars });
      return Promise.resolve({ delivery: 'not-sent', reason: 'Too much waits to be written there already.' });
    }
    line.frames++;
    line.chars += chars;
    const sent = line.last.then(() => this.#write(to, frame));
    line.last = sent;
    this.#lines.set(to.socketPath, line);
    void sent.then(() => {
      line.frames--;
      line.chars -= chars;
      if (line.frames === 0) this.#lines.delete(to.socketPath);
    });
    return sent;
  }

  /** Resolves when everything given so far is written or has failed. */
  async settled(): Promise<void> {
    while (this.#lines.size > 0) await Promise.all([...this.#lines.values()].map((line) => line.last));
  }

  async #write(to: ReplyAddress, frame: UserFrame | ControlFrame): Promise<Written> {
    const { sessionsDir, log, signal } = this.#options;
    try {
      if (frame.type === 'user') await this.#itsTurn(to.socketPath);
      const target = await whereNow(to, sessionsDir);
      if (target === null) throw new PeerError('not-sent', 'The process is gone.');
      await sendFrame({ socketPath: target, token: readToken(sessionsDir, target), frame, signal });
      return { delivery: 'written' };
    } catch (error) {
      const isUnclear = error instanceof PeerError && error.word === 'maybe-written';
      const delivery = isUnclear ? 'maybe-written' : 'not-sent';
      const reason = errorMessage(error);
      log.write('write-failed', { msgId: frame.msg_id, delivery, error: reason });
      return { delivery, reason };
    }
  }

  async #itsTurn(recipient: string): Promise<void> {
    const { pace, signal, clock = CLOCK } = this.#options;
    const waitMs = pace.take(recipient, clock.now());
    if (waitMs > 0) await clock.wait(waitMs, signal);
  }
}

/** The socket to write to: of the same process, else of the one live process that has its session now. */
async function whereNow(to: ReplyAddress, sessionsDir: string): Promise<string | null> {
  const listener = await listenerOf(to.socketPath);
  if (listener?.pid === to.pid && processStart(to.pid) === to.procStart) return to.socketPath;
  if (to.sessionId === null) return null;
  const rows = await liveRows(sessionsDir);
  const [moved, ...others] = rows.filter((row) => row.sessionId === to.sessionId);
  return others.length === 0 ? (moved?.messagingSocketPath ?? null) : null;
}
