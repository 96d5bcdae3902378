import fc from 'fast-check';
import type { Message, Outcome } from '../../src/store/record.ts';

/** Any string a peer can send: every UTF-16 unit, NUL and halves of surrogate pairs included. */
const text = fc
  .array(
    fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 0x27, 0xd800, 0xdfff, 0xfeff, 0x2028)),
    { maxLength: 12 },
  )
  .map((units) => String.fromCharCode(...units));

const textOrNull = fc.option(text);

export const message: fc.Arbitrary<Omit<Message, 'id'>> = fc.record({
  msgId: textOrNull,
  text,
  priority: fc.constantFrom('now', 'next', 'later'),
  mark: fc.constantFrom('message', 'answer', 'note', null),
  inReplyTo: textOrNull,
  hopChain: fc.array(text, { maxLength: 3 }),
  sender: fc.record({
    kind: fc.constantFrom('claude', 'codex', 'command', 'script'),
    name: text,
    replyTo: fc.option(
      fc.record({ socketPath: text, pid: fc.nat(), procStart: textOrNull, sessionId: textOrNull }),
    ),
  }),
  afterTurnId: textOrNull,
  receivedAtMs: fc.maxSafeInteger(),
});

export const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({
    state: fc.constant('answered'),
    text,
    together: fc.constantFrom('message', 'typed', null),
  }),
  fc.record({
    state: fc.constant('no-answer'),
    reason: fc.constantFrom('interrupted', 'failed', 'usage-limit', 'no-final', 'reverted', 'closed'),
    detail: text,
    partial: text,
  }),
  fc.record({ state: fc.constant('not-taken'), reason: fc.constantFrom('closed', 'dropped') }),
  fc.record({
    state: fc.constant('refused'),
    reason: fc.constantFrom('size', 'queue-full', 'harness', 'replaced'),
    detail: text,
  }),
  fc.record({ state: fc.constantFrom('expired', 'unknown') }),
);
