import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Envelope, unwrapEnvelope, wrapEnvelope } from '../../src/frames/envelope.ts';
import { BODIES, SOCKET } from './captured.ts';

const PLAIN: Envelope = { from: null, fromName: null, fromMode: null, hopChain: [], text: '' };
const HOP = '2b118bb85e45326528054084';
const FULL = `<cross-session-message from="uds:${SOCKET}" hop-chain="${HOP},${HOP}" from-name="alpha" from-mode="bypass">\nhi\n</cross-session-message>`;

const hop = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 24, maxLength: 24 });
const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((word) => !/["<>\p{Cc}\u2028\u2029]/u.test(word) && word === word.trim());
const body = fc.string({
  unit: fc.constantFrom(
    '</',
    '<',
    'cross-session-message',
    'Agent-Message',
    '>',
    '\n',
    ' ',
    '"',
    'ü',
    '🙂',
    'a',
  ),
});
const envelope = fc.record<Envelope>({
  from: fc.option(fc.constantFrom(SOCKET, '/tmp/cc-socks/1.sock', '/tmp/a b/ü.sock')),
  fromName: fc.option(name),
  fromMode: fc.constantFrom('prompting', 'bypass', null),
  hopChain: fc.array(hop, { maxLength: 30 }),
  text: fc.oneof(body, fc.string({ unit: 'binary' })),
});

describe('an envelope', () => {
  it('gives back what was put into it', () => {
    fc.assert(
      fc.property(envelope, (message) => {
        fc.pre(!/<\\|[\uff1c\u2039\u2329\u27e8\u3008]/.test(message.text));
        expect(unwrapEnvelope(wrapEnvelope(message))).toEqual(message);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is the same bytes again when what was read from it is written again', () => {
    fc.assert(
      fc.property(envelope, (message) => {
        const content = wrapEnvelope(message);
        expect(wrapEnvelope(unwrapEnvelope(content))).toBe(content);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(BODIES)('writes the body %j as Claude Code does', (typed, written) => {
    expect(wrapEnvelope({ ...PLAIN, text: typed })).toBe(
      `<cross-session-message>\n${written}\n</cross-session-message>`,
    );
  });

  it('cannot be closed or opened by its body', () => {
    fc.assert(
      fc.property(body, (text) => {
        const inside = wrapEnvelope({ ...PLAIN, text }).slice(
          '<cross-session-message>'.length,
          -'</cross-session-message>'.length,
        );
        expect(inside).not.toMatch(/<\s*\/?\s*cross-session-message(?![\w-])/i);
      }),
    );
  });

  it('has its attributes in the one order Claude Code reads', () => {
    const message: Envelope = {
      from: SOCKET,
      fromName: 'alpha',
      fromMode: 'bypass',
      hopChain: [HOP, HOP],
      text: 'hi',
    };
    expect(wrapEnvelope(message)).toBe(FULL);
    expect(unwrapEnvelope(FULL)).toEqual(message);
  });

  it('leaves out of a name what an attribute cannot hold', () => {
    // Claude Code 2.1.332 writes `weird n & co é` for a session named `we"ird <n> & co é`.
    expect(wrapEnvelope({ ...PLAIN, fromName: 'we"ird <n> & co é' })).toContain(
      ' from-name="weird n & co é">',
    );
    expect(wrapEnvelope({ ...PLAIN, fromName: ' "\n" ' })).toMatch(/^<cross-session-message>\n/);
    expect(unwrapEnvelope(wrapEnvelope({ ...PLAIN, fromName: '🙂'.repeat(40) })).fromName).toBe(
      '🙂'.repeat(32),
    );
  });

  it.each([
    [
      'another order',
      FULL.replace(' from-name="alpha" from-mode="bypass"', ' from-mode="bypass" from-name="alpha"'),
    ],
    ['two blanks', FULL.replace(' from-name', '  from-name')],
    ['single quotes', FULL.replace('"alpha"', "'alpha'")],
    ['a hop token that is too short', FULL.replace(HOP, HOP.slice(1))],
    ['an unknown attribute', FULL.replace(' from-name', ' color="red" from-name')],
    ['another mode', FULL.replace('bypass', 'auto')],
    ['an empty name', FULL.replace('alpha', '')],
    ['a name of 65 characters', FULL.replace('alpha', 'a'.repeat(65))],
    ['blanks at the ends of the name', FULL.replace('alpha', ' alpha ')],
    ['no newline before the body', FULL.replace('>\nhi', '>hi')],
    ['no newline after the body', FULL.replace('hi\n', 'hi')],
    ['one newline for both', FULL.replace('\nhi\n', '\n')],
    ['text before it', `x${FULL}`],
    ['text after it', `${FULL}\n`],
  ])('with %s is text that says nothing about its sender', (_, content) => {
    expect(unwrapEnvelope(content)).toEqual({ ...PLAIN, text: content });
  });

  it.each([
    [
      'a session and a plugin',
      FULL.replace(' hop-chain', ' from-session="s-1" hop-chain').replace('">\n', '" from-plugin="p">\n'),
      'hi',
    ],
    ['an empty body', FULL.replace('hi', ''), ''],
    [
      'an opening tag in the body',
      FULL.replace('hi', 'a <cross-session-message> b'),
      'a <cross-session-message> b',
    ],
    ['entities in the name', FULL.replace('alpha', 'a &quot; &amp; b'), 'hi'],
  ])('with %s is read', (_, content, text) => {
    expect(unwrapEnvelope(content)).toMatchObject({
      from: SOCKET,
      fromMode: 'bypass',
      hopChain: [HOP, HOP],
      text,
    });
  });

  it('with an address that cannot be connected to names no sender', () => {
    for (const from of ['bridge:session_1', 'uds:relative.sock', SOCKET, 'uds:', `uds:/${'x'.repeat(120)}`]) {
      expect(unwrapEnvelope(FULL.replace(`uds:${SOCKET}`, from))).toMatchObject({
        from: null,
        fromName: 'alpha',
      });
    }
  });

  it('of a megabyte of brackets and blanks is written and read in reasonable time', () => {
    const text = `${'<'.repeat(500_000)}<${' '.repeat(500_000)}`;
    expect(unwrapEnvelope(wrapEnvelope({ ...PLAIN, text })).text).toBe(text);
  }, 2_000);
});
