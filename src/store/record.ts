import type { Priority, ReceiptStatus } from '../frames/message.ts';

/** A message as it was received; what the wrapper needs to give it to a harness and to answer it. */
export interface Message {
  /** Our key: unique per received message. */
  readonly id: string;
  /** The sender's own id of it, quoted back in `in_reply_to`. */
  readonly msgId: string | null;
  readonly text: string;
  readonly priority: Priority;
  /** `notice` is our own word to the model about its messages; it comes from nobody. */
  readonly mark: 'message' | 'answer' | 'note' | 'notice' | null;
  readonly inReplyTo: string | null;
  readonly hopChain: readonly string[];
  readonly sender: Sender;
  /** The thread's newest turn when it came: if it was ever handed over, then in that turn or a later one. */
  readonly afterTurnId: string | null;
  /** For people and for `expired`; which came first is told by the order of receipt alone. */
  readonly receivedAtMs: number;
}

/** Who sent it, as the registry and the kernel know them; never as the text claims. */
export interface Sender {
  readonly kind: 'claude' | 'codex' | 'command' | 'script';
  readonly name: string;
  /** Where an answer goes; null when none is possible. */
  readonly replyTo: ReplyAddress | null;
}

/** The process that sent a message, as it was when the message came. */
export interface ReplyAddress {
  readonly socketPath: string;
  readonly pid: number;
  readonly procStart: string | null;
  readonly sessionId: string | null;
}

/** The one outcome of a message. */
export type Outcome =
  | { readonly state: 'answered'; readonly text: string; readonly together: 'message' | 'typed' | null }
  | {
      readonly state: 'no-answer';
      readonly reason: NoAnswerReason;
      readonly detail: string;
      readonly partial: string;
    }
  | { readonly state: 'not-taken'; readonly reason: 'closed' | 'dropped' }
  | { readonly state: 'refused'; readonly reason: RefusedReason; readonly detail: string }
  | { readonly state: 'expired' }
  | { readonly state: 'unknown' };

export type NoAnswerReason = 'interrupted' | 'failed' | 'usage-limit' | 'no-final' | 'reverted' | 'closed';

/** `replaced`: the peer has another thread now, and what was sent to one is never run in another. */
export type RefusedReason = 'size' | 'queue-full' | 'harness' | 'replaced';

/** What became of telling the sender. */
export type Delivery = 'none' | 'written' | 'not-sent' | 'maybe-written' | ReceiptStatus;

/** What is known at the end of a write; a receipt may say more later. */
export type Written =
  | { readonly delivery: 'written' }
  | { readonly delivery: 'not-sent' | 'maybe-written'; readonly reason: string };

/** That a message is about to be given to a harness, and how it will be known there. */
export interface Claim {
  readonly clientId: string;
  /** The thread's newest turn at that moment: the message's own turn is that one or a later one. */
  readonly afterTurnId: string | null;
}

/** What an earlier process left open; each list is in order of receipt. */
export interface Restored {
  readonly unclaimed: readonly Message[];
  readonly claimed: readonly RestoredClaim[];
  /** Decided, and nobody has begun to tell the sender. */
  readonly untold: readonly Decided[];
  /** The outcome may have been written to the sender: at most a note about that may follow (`claimNote`). */
  readonly halfTold: readonly Decided[];
  /**
   * Undecided messages to this name in another thread that no living process serves. Never run; one that was
   * claimed there may have reached the model.
   */
  readonly foreign: readonly { readonly message: Message; readonly isClaimed: boolean }[];
}

export interface RestoredClaim {
  readonly message: Message;
  /** Null when the claim itself was lost and only its evidence was found. */
  readonly clientId: string | null;
  readonly afterTurnId: string | null;
  /** The turn of its evidence; null as long as there is none. */
  readonly turnId: string | null;
  readonly isTaken: boolean;
}

export interface Decided {
  readonly message: Message;
  readonly outcome: Outcome;
}

/**
 * The record behind the promise: each step of a message is written here before the world sees it, in the order
 * message, claim, evidence, outcome, reply claim, delivery. Calls take effect in the order in which they are made. A
 * step that cannot come there (a second claim, a reply before its outcome) rejects with an `Error`: a fault of ours.
 *
 * Every call may reject, with nothing recorded, with PeerError `store-busy` (locked for `LIMITS.recordMs`),
 * `store-failed` (full, damaged, not writable) or `thread-taken` (this process has lost the thread).
 */
export interface MessageRecord {
  /** Records a received message; from now on it gets exactly one outcome. */
  receive(message: Message): Promise<void>;
  /** The message, as long as it has no outcome or its outcome is not yet told. */
  message(id: string): Message | undefined;
  /** Committed before a harness sees the message. */
  claim(id: string, claim: Claim): Promise<void>;
  /** Only an error response to our own request withdraws a claim. */
  withdraw(id: string): Promise<void>;
  /** Evidence; the first one stays. A message that was never claimed counts as claimed from now on. */
  taken(id: string, turnId: string): Promise<void>;
  /** Insert-only: false when the message already has its outcome, which stays, or is not ours to decide any more. */
  outcome(id: string, outcome: Outcome): Promise<boolean>;
  /** Takes the one right to write the outcome to the sender: false when it was taken before. */
  claimReply(id: string): Promise<boolean>;
  /** Takes the one right to tell the sender of a message that was left half told: false when it was taken before. */
  claimNote(id: string): Promise<boolean>;
  /** May change later, by receipts of the receiver. */
  delivered(id: string, delivery: Delivery): Promise<void>;
  /**
   * Takes the one right to act on a tool call of this thread: false when it was taken before, be it by a process that
   * has ended since.
   */
  claimCall(callId: string): Promise<boolean>;
  /** What is open now. Called once, before anything else, by a process that opens the record. */
  restore(): Promise<Restored>;
  /** Ends after all calls before it; the thread is free for others then. */
  close(): Promise<void>;
}
