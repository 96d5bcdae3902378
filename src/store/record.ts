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
  | { readonly state: 'refused'; readonly reason: 'size' | 'queue-full' | 'harness'; readonly detail: string }
  | { readonly state: 'unknown' };

export type NoAnswerReason = 'interrupted' | 'failed' | 'usage-limit' | 'no-final' | 'reverted' | 'closed';

/** What became of telling the sender. */
export type Delivery = 'none' | 'written' | 'not-sent' | 'maybe-written' | ReceiptStatus;

/** What is known at the end of a write; a receipt may say more later. */
export type Written =
  | { readonly delivery: 'written' }
  | { readonly delivery: 'not-sent' | 'maybe-written'; readonly reason: string };

/**
 * The record behind the promise: each step of a message is written here before the world sees it, in the order
 * message, claim, evidence, outcome, reply claim, delivery.
 */
export interface MessageRecord {
  /** Records a received message; from now on it gets exactly one outcome. */
  receive(message: Message): void;
  /** The message, as long as it has no outcome or its outcome is not yet told. */
  message(id: string): Message | undefined;
  /** Committed before a harness sees the message. */
  claim(id: string, claim: { readonly clientId: string; readonly afterTurnId: string | null }): void;
  /** Only an error response to our own request withdraws a claim. */
  withdraw(id: string): void;
  taken(id: string, turnId: string): void;
  /** Insert-only: false when the message already has its outcome, which stays. */
  outcome(id: string, outcome: Outcome): boolean;
  /** Takes the one right to write the outcome to the sender: false when it was taken before. */
  claimReply(id: string): boolean;
  /** May change later, by receipts of the receiver. */
  delivered(id: string, delivery: Delivery): void;
  close(): void;
}
