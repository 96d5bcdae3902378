import { toAddress } from './address.ts';
import type { FromMode, IdleState, PeerMark, Priority, ReceiptStatus } from './message.ts';

/** A message on the wire; the keys stand in Claude Code's order (2.1.332), ours last. */
export interface UserFrame {
  readonly msgV: 1;
  readonly msg_id: string;
  readonly type: 'user';
  readonly message: { readonly role: 'user'; readonly content: string };
  readonly priority: Priority;
  readonly from?: string;
  readonly peerwire: PeerMark;
}

export interface ControlFrame {
  readonly type: 'control';
  readonly action: OutboundControl['action'];
  readonly from: string;
  readonly msgV: 1;
  readonly msg_id: string;
}

/** Socket paths without `uds:`; what is undefined is left out of the frame. */
export type OutboundControl =
  | { readonly action: 'notify_when_idle'; readonly from: string; readonly fromMode: FromMode }
  | {
      readonly action: 'peer_idle_notice';
      readonly origMsgId: string;
      readonly state: IdleState;
      readonly finishedAtMs?: number | undefined;
      /** Claude Code cuts it at 100 characters and shows one line. */
      readonly detail?: string | undefined;
      readonly from: string;
      readonly fromMode: FromMode;
    }
  | {
      readonly action: 'peer_message_status';
      readonly status: ReceiptStatus;
      readonly reason: string;
      readonly origMsgId: string;
      readonly dropReason?: string | undefined;
      readonly droppedMsgIds?: readonly string[] | undefined;
      readonly from: string;
    };

/**
 * A message for another peer. `content` is what {@link wrapEnvelope} made; `from` is the socket this process
 * listens on, or null when no answer can come back.
 */
export function userFrame(message: {
  readonly msgId: string;
  readonly from: string | null;
  readonly content: string;
  readonly priority: Priority;
  readonly mark: PeerMark;
}): UserFrame {
  return {
    msgV: 1,
    msg_id: message.msgId,
    type: 'user',
    message: { role: 'user', content: message.content },
    priority: message.priority,
    ...(message.from === null ? {} : { from: toAddress(message.from) }),
    peerwire: message.mark,
  };
}

/** A subscription, an idle notice or a receipt; the keys stand in the order of each in Claude Code 2.1.332. */
export function controlFrame(msgId: string, control: OutboundControl): ControlFrame {
  const type = 'control' as const;
  const from = toAddress(control.from);
  const ids = { msgV: 1 as const, msg_id: msgId };
  switch (control.action) {
    case 'notify_when_idle': {
      const { action, fromMode } = control;
      return defined({ type, action, from, from_mode: fromMode, ...ids });
    }
    case 'peer_idle_notice': {
      const { action, origMsgId, state, finishedAtMs, detail, fromMode } = control;
      const about = { orig_msg_id: origMsgId, state, finished_at: finishedAtMs, detail };
      return defined({ type, action, ...about, from, from_mode: fromMode, ...ids });
    }
    case 'peer_message_status': {
      const { action, status, reason, origMsgId, dropReason, droppedMsgIds } = control;
      const dropped = { drop_reason: dropReason, dropped_msg_ids: droppedMsgIds };
      return defined({ type, action, status, reason, from, orig_msg_id: origMsgId, ...dropped, ...ids });
    }
  }
}

/** Without the keys that are undefined: JSON would leave them out, deep comparisons would not. */
function defined<T extends object>(frame: T): T {
  for (const key of Object.keys(frame) as (keyof T)[]) if (frame[key] === undefined) delete frame[key];
  return frame;
}
