import * as z from 'zod/mini';
import { LIMITS } from '../limits.ts';
import { fromAddress } from './address.ts';
import { unwrapEnvelope } from './envelope.ts';
import type { InboundControl, InboundMessage, PeerMark } from './message.ts';

/** One line of a connection. `ignored` says in words for the log why nothing is done about it. */
export type Frame =
  | { readonly type: 'auth'; readonly token: string }
  | { readonly type: 'user'; readonly message: InboundMessage }
  | { readonly type: 'control'; readonly control: InboundControl }
  | { readonly type: 'ignored'; readonly reason: string };

const text = z.catch(z.nullable(z.string()), null);
const id = z.string().check(z.minLength(1), z.maxLength(LIMITS.msgIdChars));
const idOrNull = z.catch(z.nullable(id), null);
const addressOrNull = z.pipe(
  text,
  z.transform((value) => (value === null ? null : fromAddress(value))),
);
const fromMode = z.catch(z.nullable(z.enum(['prompting', 'bypass'])), null);

const markSchema = z.looseObject({
  // A kind that a later release invents is read as a note: shown, and never answered automatically.
  kind: z.catch(z.enum(['message', 'answer', 'note']), 'note'),
  in_reply_to: idOrNull,
  outcome: text,
  ask: z.catch(z.boolean(), false),
});

const typedSchema = z.looseObject({ type: text, action: text });
const authSchema = z.looseObject({ token: z.string() });
const userSchema = z.looseObject({
  message: z.looseObject({ content: z.string().check(z.minLength(1)) }),
  msg_id: idOrNull,
  from: addressOrNull,
  priority: z.catch(z.enum(['now', 'next', 'later']), 'next'),
  peerwire: z.catch(z.nullable(markSchema), null),
});
const notifyWhenIdleSchema = z.looseObject({ msg_id: id, from: addressOrNull, from_mode: fromMode });
const idleNoticeSchema = z.looseObject({
  orig_msg_id: id,
  state: z.catch(z.enum(['idle', 'exited', 'unavailable']), 'unavailable'),
  finished_at: z.catch(z.nullable(z.number()), null),
  detail: text,
  from: addressOrNull,
  from_mode: fromMode,
});
const messageStatusSchema = z.looseObject({
  status: z.enum(['held', 'delivered', 'denied', 'expired', 'refused', 'dropped']),
  status_detail: text,
  reason: text,
  drop_reason: text,
  orig_msg_id: idOrNull,
  dropped_msg_ids: z.catch(z.array(id), []),
  from: addressOrNull,
});
const renameSchema = z.looseObject({ name: z.string() });

/**
 * Reads one line, whatever it holds; never throws. Missing and unknown values are read as Claude Code 2.1.332
 * reads them: any id or none, `next` for an unknown priority, unknown fields ignored, a message without a
 * non-empty text content dropped.
 */
export function parseFrame(line: string): Frame {
  const value = parseJson(line);
  const typed = typedSchema.safeParse(value);
  if (!typed.success) return ignored('a line that is no JSON object');
  switch (typed.data.type) {
    case 'auth':
      return parseAuth(value);
    case 'user':
      return parseUser(value);
    case 'control':
      return parseControl(value, typed.data.action);
    default:
      return ignored(`unknown frame type ${shown(typed.data.type)}`);
  }
}

function parseAuth(value: unknown): Frame {
  const auth = authSchema.safeParse(value);
  return auth.success ? { type: 'auth', token: auth.data.token } : ignored('an auth line without a token');
}

function parseUser(value: unknown): Frame {
  const user = userSchema.safeParse(value);
  if (!user.success) return ignored('a message without text content');
  const { message, msg_id, from, priority, peerwire } = user.data;
  const { text, fromName, fromMode, hopChain } = unwrapEnvelope(message.content);
  return {
    type: 'user',
    message: {
      msgId: msg_id,
      from,
      content: message.content,
      text,
      fromName,
      fromMode,
      hopChain,
      priority,
      mark: peerwire === null ? null : toMark(peerwire),
    },
  };
}

function toMark({ kind, in_reply_to, outcome, ask }: z.infer<typeof markSchema>): PeerMark {
  return {
    kind,
    ...(in_reply_to === null ? {} : { in_reply_to }),
    ...(outcome === null ? {} : { outcome }),
    ...(ask ? { ask } : {}),
  };
}

function parseControl(value: unknown, action: string | null): Frame {
  switch (action) {
    case 'notify_when_idle':
      return control(action, readNotifyWhenIdle(value));
    case 'peer_idle_notice':
      return control(action, readIdleNotice(value));
    case 'peer_message_status':
      return control(action, readMessageStatus(value));
    case 'rename':
      return control(action, readRename(value));
    default:
      return ignored(`unknown control action ${shown(action)}`);
  }
}

function readNotifyWhenIdle(value: unknown): InboundControl | null {
  const frame = notifyWhenIdleSchema.safeParse(value);
  if (!frame.success || frame.data.from === null) return null;
  const { msg_id, from, from_mode } = frame.data;
  return { action: 'notify_when_idle', msgId: msg_id, from, fromMode: from_mode };
}

function readIdleNotice(value: unknown): InboundControl | null {
  const frame = idleNoticeSchema.safeParse(value);
  if (!frame.success) return null;
  const { orig_msg_id, state, finished_at, detail, from, from_mode } = frame.data;
  return {
    action: 'peer_idle_notice',
    origMsgId: orig_msg_id,
    state,
    finishedAtMs: finished_at,
    detail,
    from,
    fromMode: from_mode,
  };
}

function readMessageStatus(value: unknown): InboundControl | null {
  const frame = messageStatusSchema.safeParse(value);
  if (!frame.success) return null;
  const { status, status_detail, reason, drop_reason, orig_msg_id, dropped_msg_ids, from } = frame.data;
  const msgIds = [...new Set([...(orig_msg_id === null ? [] : [orig_msg_id]), ...dropped_msg_ids])];
  if (msgIds.length === 0) return null;
  // Claude Code 2.1.332 tells a refusal as this pair.
  const isRefusal = status === 'expired' && status_detail === 'refused';
  return {
    action: 'peer_message_status',
    status: isRefusal ? 'refused' : status,
    reason,
    dropReason: drop_reason,
    msgIds,
    from,
  };
}

function readRename(value: unknown): InboundControl | null {
  const frame = renameSchema.safeParse(value);
  return frame.success ? { action: 'rename', name: frame.data.name } : null;
}

function control(action: string, read: InboundControl | null): Frame {
  return read === null ? ignored(`an incomplete ${action}`) : { type: 'control', control: read };
}

function ignored(reason: string): Frame {
  return { type: 'ignored', reason };
}

function shown(word: string | null): string {
  return word === null ? '(none)' : JSON.stringify(word.slice(0, 40));
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
