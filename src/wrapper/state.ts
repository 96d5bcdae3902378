import type { Priority } from '../frames/message.ts';
import type { ThreadEvent, ThreadSettings, ThreadStatus, Turn } from '../harness/harness.ts';
import type { Waiting } from '../queue/order.ts';
import type { Outcome } from '../store/record.ts';

/** A message handed to the harness that has no outcome yet. */
export interface Claim {
  readonly waiting: Waiting;
  readonly clientId: string;
  /** Which connection it was handed over on. */
  readonly epoch: number;
  /** The newest turn when it was handed over: its own turn is that one or a later one. */
  readonly afterTurnId: string | null;
  /** Its turn, known from the acknowledgement or the evidence. */
  readonly turnId: string | null;
  /** The user item with our client id was seen. */
  readonly isTaken: boolean;
  /**
   * Its turn is over and the item is missing: `looking` for two seconds in newer turns, then `due` for one
   * last read.
   */
  readonly absence: 'none' | 'looking' | 'due';
  /**
   * Only for a message that an earlier wrapper recorded and, as far as the record says, never handed over: what
   * becomes of it when the thread does not have it.
   */
  readonly ifAbsent?: 'run' | 'expire';
}

/**
 * After a reconnect a daemon may continue an interrupted turn by a recovery turn. While `looking`, nothing that was
 * interrupted is decided; `over` when it came or can come no more.
 */
export type Recovery = 'looking' | 'over';

/** Everything the wrapper decides from. Replaced as a whole by `step`, never changed in place. */
export interface State {
  readonly phase: 'opening' | 'serving' | 'closing';
  /** Number of the connection; a claim of an earlier one is decided by read-back alone. */
  readonly epoch: number;
  /** The harness takes messages: connected, thread loaded, rights checked. */
  readonly isReady: boolean;
  /** Why it is not ready, for the row. */
  readonly waitingFor: string | null;
  readonly thread: ThreadStatus;
  readonly settings: ThreadSettings | null;
  readonly newestTurnId: string | null;
  /** The newest turn was interrupted when we reconnected and nothing has started since. */
  readonly isNewestInterrupted: boolean;
  readonly recovery: Recovery;
  readonly queue: readonly Waiting[];
  readonly claims: readonly Claim[];
  /** A refused start is not repeated before the `retry` timer. */
  readonly isPaused: boolean;
  /** A read-back is on its way; `readAgain` when something happened since it began. */
  readonly isReading: boolean;
  readonly readAgain: boolean;
  /** Arrival number of the next message. */
  readonly seq: number;
}

/** What a read-back was asked with: only what was known then may be decided from it. */
export interface ReadBasis {
  readonly epoch: number;
  readonly recovery: Recovery;
  readonly due: readonly string[];
}

export type Timer = 'recovery' | 'absence' | 'retry' | 'idle-read' | 'read-again';

export type Event =
  | ThreadEvent
  | { readonly type: 'message'; readonly id: string; readonly priority: Priority; readonly bytes: number }
  | { readonly type: 'read'; readonly basis: ReadBasis; readonly turns: readonly Turn[] }
  | { readonly type: 'read-failed'; readonly basis: ReadBasis }
  | { readonly type: 'timer'; readonly timer: Timer }
  | { readonly type: 'close' };

export type Effect =
  /** Record the claim, then give the message to the harness. */
  | StartEffect
  /** Record a claim that the record did not know of: the thread has the message. */
  | ({ readonly type: 'claim'; readonly id: string } & Pick<Claim, 'clientId' | 'afterTurnId'>)
  | { readonly type: 'withdraw'; readonly id: string }
  | { readonly type: 'taken'; readonly id: string; readonly turnId: string }
  | { readonly type: 'outcome'; readonly id: string; readonly outcome: Outcome }
  | { readonly type: 'read'; readonly sinceTurnId: string | null; readonly basis: ReadBasis }
  /** Starts or restarts the timer; it fires once. */
  | { readonly type: 'timer'; readonly timer: Timer; readonly delayMs: number }
  /** Something waits while the harness is away. */
  | { readonly type: 'message-waits' };

export interface StartEffect {
  readonly type: 'start';
  readonly id: string;
  readonly clientId: string;
  readonly afterTurnId: string | null;
  /** The connection it is meant for; on another one it must not be handed over any more. */
  readonly epoch: number;
}

export interface Step {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** @param claims what an earlier wrapper of this thread left open, in order of arrival */
export function initialState(claims: readonly Claim[] = []): State {
  return {
    phase: 'opening',
    epoch: 0,
    isReady: false,
    waitingFor: null,
    thread: { type: 'idle' },
    settings: null,
    newestTurnId: null,
    isNewestInterrupted: false,
    recovery: 'over',
    queue: [],
    claims,
    isPaused: false,
    isReading: false,
    readAgain: false,
    seq: claims.length,
  };
}
