/** Everything that is known of one run, gathered without a line of the product: what the checker judges. */
export interface Evidence {
  readonly seed: number;
  readonly sent: readonly Sent[];
  readonly faults: readonly Fault[];
  /** Wrappers that ended although nobody ended them. */
  readonly deaths: readonly string[];
  readonly store: StoreRows;
  readonly userItems: readonly UserItem[];
  readonly requests: readonly ModelRound[];
  readonly received: readonly Received[];
  /** Senders that were killed: nobody tells them anything any more. */
  readonly gone: readonly string[];
}

export type Priority = 'now' | 'next' | 'later';

/** One numbered message, as its sender knows it. */
export interface Sent {
  readonly marker: string;
  readonly msgId: string;
  readonly sender: string;
  readonly peer: string;
  readonly priority: Priority;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** The receiver took every byte and hung up: to a sender that is success. */
  readonly isWritten: boolean;
  readonly error: string | null;
}

export interface Fault {
  readonly target: 'daemon' | 'wrapper' | 'sender' | 'connection';
  /** The peer or the sender; empty for the daemon and its connections. */
  readonly name: string;
  readonly what: string;
  readonly atMs: number;
  /** When the process was gone, or the fault over. */
  readonly goneAtMs: number;
  /** When it served again; null for what does not come back. */
  readonly backAtMs: number | null;
}

/** Rows of the store as they stand in its tables. */
export interface StoreRows {
  readonly messages: readonly { id: string; thread_id: string; peer: string; msgId: string | null }[];
  readonly claims: readonly { message_id: string; client_id: string; claimed_at_ms: number }[];
  readonly outcomes: readonly { message_id: string; state: string }[];
  readonly replies: readonly {
    message_id: string;
    claimed_at_ms: number;
    noted_at_ms: number | null;
    delivery: string | null;
    delivered_at_ms: number | null;
  }[];
}

export interface UserItem {
  readonly threadId: string;
  readonly turnId: string;
  readonly turnStatus: string;
  readonly clientId: string | null;
  readonly text: string;
}

/** One request of Codex to its model. */
export interface ModelRound {
  readonly atMs: number;
  /** The text of each item in the user's role. */
  readonly userTexts: readonly string[];
}

/** A user frame that a sender got. */
export interface Received {
  readonly sender: string;
  readonly atMs: number;
  readonly kind: string;
  readonly outcome: string;
  readonly inReplyTo: string;
  readonly body: string;
}
