import { fromAddress, toAddress } from './address.ts';
import { escapeMarks, unescapeMarks } from './marks.ts';
import type { FromMode } from './message.ts';

export interface Envelope {
  /** Socket path without `uds:`. */
  readonly from: string | null;
  readonly fromName: string | null;
  readonly fromMode: FromMode | null;
  readonly hopChain: readonly string[];
  readonly text: string;
}

const CLOSING = '\n</cross-session-message>';
const NAME_CHARS = 64;
const HOP_TOKEN = /^[0-9a-f]{24}$/;
/** Claude Code 2.1.332 reads the attributes in this order only; anything else makes the whole content text. */
const OPENING = new RegExp(
  [
    '^<cross-session-message',
    '(?: from="(?<from>[^"<>\\n]*)")?',
    '(?: from-session="[^"<>\\n]*")?',
    '(?: hop-chain="(?<hopChain>[0-9a-f,]+)")?',
    `(?: from-name="(?<fromName>[^"<>\\n]{1,${NAME_CHARS}})")?`,
    '(?: from-mode="(?<fromMode>prompting|bypass)")?',
    '(?: from-plugin="[^"<>\\n]*")?',
    '>\\n',
  ].join(''),
);

/**
 * The content of a message, byte for byte as Claude Code 2.1.332 writes it. What an attribute cannot hold is
 * left out: quotes and angle brackets of a name, an address with such characters, a malformed hop token.
 */
export function wrapEnvelope(envelope: Envelope): string {
  const hopChain = envelope.hopChain.filter((token) => HOP_TOKEN.test(token));
  const fromName = envelope.fromName === null ? '' : nameAttribute(envelope.fromName);
  let opening = '<cross-session-message';
  if (envelope.from !== null && !/["<>\n]/.test(envelope.from))
    opening += ` from="${toAddress(envelope.from)}"`;
  if (hopChain.length > 0) opening += ` hop-chain="${hopChain.join(',')}"`;
  if (fromName !== '') opening += ` from-name="${fromName}"`;
  if (envelope.fromMode !== null) opening += ` from-mode="${envelope.fromMode}"`;
  return `${opening}>\n${escapeMarks(envelope.text)}${CLOSING}`;
}

/**
 * Reads an envelope as strictly as Claude Code 2.1.332 does. Content in any other form is still a message:
 * all of it is the text, and it says nothing about its sender.
 */
export function unwrapEnvelope(content: string): Envelope {
  const opening = OPENING.exec(content);
  const { from, hopChain, fromName, fromMode } = opening?.groups ?? {};
  const hops = hopChain?.split(',') ?? [];
  const bodyStart = opening?.[0].length ?? 0;
  const isWellFormed =
    opening !== null &&
    content.endsWith(CLOSING) &&
    content.length >= bodyStart + CLOSING.length &&
    hops.every((token) => HOP_TOKEN.test(token)) &&
    fromName === fromName?.trim();
  if (!isWellFormed) return { from: null, fromName: null, fromMode: null, hopChain: [], text: content };
  return {
    from: from === undefined ? null : fromAddress(from),
    fromName: fromName ?? null,
    fromMode: fromMode === 'prompting' || fromMode === 'bypass' ? fromMode : null,
    hopChain: hops,
    text: unescapeMarks(content.slice(bodyStart, -CLOSING.length)),
  };
}

function nameAttribute(name: string): string {
  const plain = name.replace(/["<>\p{Cc}\u2028\u2029]/gu, '').trim();
  const isCutInPair = /[\ud800-\udbff]$/.test(plain.slice(0, NAME_CHARS));
  return plain.slice(0, isCutInPair ? NAME_CHARS - 1 : NAME_CHARS).trim();
}
