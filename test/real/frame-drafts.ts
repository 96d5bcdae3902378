import { randomUUID } from 'node:crypto';

/** What frames are made of: who sends them to whom, and the text by which they are found again. */
export interface Draft {
  readonly text: string;
  /** Address of the sender. */
  readonly from: string;
  /** Address of the receiver. */
  readonly to: string;
  /** Address of a live peer that has nothing to do with it. */
  readonly other: string;
  /** The receiver's. */
  readonly token: string;
  readonly sessionId: string;
}

/** The bytes of one connection, then EOF, unless it stays open. */
export interface Written {
  readonly bytes: string;
  readonly encoding?: 'latin1';
  readonly holdOpen?: true;
}

export type Fields = { readonly [field: string]: unknown };

export function auth(token: string): Fields {
  return { type: 'auth', token };
}

/** A message as Claude Code 2.1.332 writes it, changed by `fields` and the envelope's `attributes`. */
export function message(
  draft: Draft,
  fields: Fields = {},
  attributes: Fields = {},
  text = draft.text,
): Fields {
  return {
    msgV: 1,
    msg_id: randomUUID(),
    type: 'user',
    message: { role: 'user', content: envelope(draft, attributes, text) },
    priority: 'next',
    from: draft.from,
    ...fields,
  };
}

export function control(draft: Draft, fields: Fields): Fields {
  return { type: 'control', from: draft.from, msgV: 1, msg_id: randomUUID(), ...fields };
}

export function subscription(draft: Draft, fields: Fields = {}): Fields {
  return control(draft, { action: 'notify_when_idle', from_mode: 'prompting', ...fields });
}

/** Frames and raw lines as the bytes of one connection. */
export function lines(...all: readonly (Fields | string)[]): string {
  return all.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}

/** The usual connection: auth line, then these frames and raw lines. */
export function authed(draft: Draft, ...all: readonly (Fields | string)[]): string {
  return lines(auth(draft.token), ...all);
}

/** Auth line and message. */
export function sent(draft: Draft, fields: Fields = {}, attributes: Fields = {}, text = draft.text): string {
  return authed(draft, message(draft, fields, attributes, text));
}

/** Auth line and a message whose content is exactly this. */
export function sentContent(draft: Draft, content: unknown): string {
  return sent(draft, { message: { role: 'user', content } });
}

/** A hop chain of made-up tokens. */
export function chain(entries: number): string {
  return Array.from({ length: entries }, (_, index) => index.toString(16).padStart(24, '0')).join(',');
}

/** A message line of exactly so many characters, its newline not counted. */
export function lineOf(draft: Draft, chars: number): string {
  const room = chars - JSON.stringify(message(draft)).length;
  return JSON.stringify(message(draft, {}, {}, draft.text + 'x'.repeat(room)));
}

const ORDER = ['from', 'from-session', 'hop-chain', 'from-name', 'from-mode'];

function envelope(draft: Draft, attributes: Fields, text: string): string {
  const all: Fields = { from: draft.from, 'from-name': 'alpha', 'from-mode': 'prompting', ...attributes };
  const names = [...new Set([...ORDER, ...Object.keys(all)])].filter((name) => all[name] !== undefined);
  const written = names.map((name) => ` ${name}="${all[name]}"`).join('');
  return `<cross-session-message${written}>\n${text}\n</cross-session-message>`;
}
