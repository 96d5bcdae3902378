/** Only `next` is ever sent by Claude Code 2.1.332; the other two come from us and other third parties. */
export type Priority = 'now' | 'next' | 'later';

/** The sender's permission class: `bypass` asks nobody before it acts. */
export type FromMode = 'prompting' | 'bypass';

/**
 * The top-level field `peerwire` of every message we send; Claude Code ignores it. An answer or a note is
 * never answered automatically, or two wrapped peers would talk for ever.
 */
export interface PeerMark {
  readonly kind: 'message' | 'answer' | 'note';
  /** The `msg_id` this answers. */
  readonly in_reply_to?: string;
  /** The outcome word of that message. */
  readonly outcome?: string;
  /** Its sender's turn stands still until the answer: two who did that to each other would wait for ever. */
  readonly ask?: true;
}

/** What a `user` frame says. Nothing in it is verified: every string is the sender's own claim. */
export interface InboundMessage {
  readonly msgId: string | null;
  /** Socket path of the frame's own `from`, without `uds:`; null when there is none to connect to. */
  readonly from: string | null;
  /** The content as it came, envelope included. */
  readonly content: string;
  /** The body inside the envelope, or the whole content when there is no well-formed one. */
  readonly text: string;
  readonly fromName: string | null;
  readonly fromMode: FromMode | null;
  readonly hopChain: readonly string[];
  readonly priority: Priority;
  readonly mark: PeerMark | null;
}

export type ReceiptStatus = 'held' | 'delivered' | 'denied' | 'expired' | 'refused' | 'dropped';

export type IdleState = 'idle' | 'exited' | 'unavailable';

/** What a `control` frame says, as unverified as a message. */
export type InboundControl =
  | {
      readonly action: 'notify_when_idle';
      readonly msgId: string;
      readonly from: string;
      readonly fromMode: FromMode | null;
    }
  | {
      readonly action: 'peer_idle_notice';
      readonly origMsgId: string;
      readonly state: IdleState;
      readonly finishedAtMs: number | null;
      readonly detail: string | null;
      readonly from: string | null;
      readonly fromMode: FromMode | null;
    }
  | {
      readonly action: 'peer_message_status';
      readonly status: ReceiptStatus;
      readonly reason: string | null;
      readonly dropReason: string | null;
      /** Every message it is about: `orig_msg_id` and `dropped_msg_ids`, each once. */
      readonly msgIds: readonly string[];
      readonly from: string | null;
    }
  | { readonly action: 'rename'; readonly name: string };
