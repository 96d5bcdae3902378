import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Frame, parseFrame } from '../../src/frames/parse.ts';
import { LIMITS } from '../../src/limits.ts';
import { BRIEF, CHAINED, DROPPED, HELD, IDLE_NOTICE, MSG_ID, SOCKET, SUBSCRIPTION } from './captured.ts';

const ORIG_ID = '42e0fa68-499c-4c79-89be-cce6a3918573';

function messageOf(frame: Frame) {
  if (frame.type !== 'user') throw new Error(`not a message: ${JSON.stringify(frame)}`);
  return frame.message;
}

/** The brief of Claude Code with some top-level fields replaced; undefined takes one away. */
function brief(fields: Record<string, unknown>): string {
  return JSON.stringify({ ...JSON.parse(BRIEF), ...fields });
}

describe('a frame of Claude Code', () => {
  it('that carries a message says who sends what', () => {
    expect(parseFrame(BRIEF)).toEqual({
      type: 'user',
      message: {
        msgId: MSG_ID,
        from: SOCKET,
        content: JSON.parse(BRIEF).message.content,
        text: 'brief for sol',
        fromName: 'alpha',
        fromMode: 'prompting',
        hopChain: [],
        priority: 'next',
        mark: null,
      },
    });
  });

  it('that was caused by another message carries its hop chain', () => {
    expect(messageOf(parseFrame(CHAINED)).hopChain).toEqual(['2b118bb85e45326528054084']);
  });

  it('that subscribes names the socket to notify', () => {
    const control = { action: 'notify_when_idle', msgId: MSG_ID, from: SOCKET, fromMode: 'prompting' };
    expect(parseFrame(SUBSCRIPTION)).toEqual({ type: 'control', control });
  });

  it('that says a session is idle names the subscription', () => {
    expect(parseFrame(IDLE_NOTICE)).toEqual({
      type: 'control',
      control: {
        action: 'peer_idle_notice',
        origMsgId: ORIG_ID,
        state: 'idle',
        finishedAtMs: 1796061425754,
        detail: 'one line of the last answer',
        from: SOCKET,
        fromMode: 'prompting',
      },
    });
  });

  it('that is a receipt names every message it is about', () => {
    expect(parseFrame(HELD)).toMatchObject({
      control: { status: 'held', msgIds: [ORIG_ID], dropReason: null },
    });
    expect(parseFrame(DROPPED)).toMatchObject({
      control: {
        status: 'dropped',
        dropReason: 'rate-limited',
        msgIds: [ORIG_ID, '0b9c7a52-1111-4222-8333-944455566677'],
      },
    });
  });

  it('that tells a refusal as an expiry with a detail is a refusal', () => {
    const line = HELD.replace('"held"', '"expired","status_detail":"refused"');
    expect(parseFrame(line)).toMatchObject({ control: { status: 'refused' } });
  });
});

describe('a message', () => {
  it.each([[undefined], [null], ['soon'], [7]])('with priority %j is taken in its turn', (priority) => {
    expect(messageOf(parseFrame(brief({ priority }))).priority).toBe('next');
  });

  it.each(['now', 'next', 'later'])('with priority %s keeps it', (priority) => {
    expect(messageOf(parseFrame(brief({ priority }))).priority).toBe(priority);
  });

  it.each([[undefined], [''], [7], ['x'.repeat(LIMITS.msgIdChars + 1)]])(
    'with the id %j has none',
    (msg_id) => {
      expect(messageOf(parseFrame(brief({ msg_id }))).msgId).toBeNull();
    },
  );

  it.each([
    [undefined],
    [7],
    ['uds:relative.sock'],
    ['bridge:session_1'],
    ['uds:/tmp/a\u0000b.sock'],
    [`uds:/${'x'.repeat(LIMITS.socketPathBytes)}`],
  ])('from %j has no address to answer to', (from) => {
    expect(messageOf(parseFrame(brief({ from }))).from).toBeNull();
  });

  it('takes its address from the frame and not from the envelope', () => {
    expect(messageOf(parseFrame(brief({ from: 'uds:/tmp/cc-socks/7.sock' }))).from).toBe(
      '/tmp/cc-socks/7.sock',
    );
  });

  it.each([[undefined], [{}], [{ content: '' }], [{ content: [{ type: 'text', text: 'x' }] }], ['text']])(
    'with the content %j is ignored',
    (message) => {
      expect(parseFrame(brief({ message }))).toEqual({
        type: 'ignored',
        reason: 'a message without text content',
      });
    },
  );

  it('may hold fields nobody knows', () => {
    expect(parseFrame(brief({ file_attachments: [], msgV: 2 }))).toEqual(parseFrame(BRIEF));
  });

  it('tells by its mark that it is an answer', () => {
    const peerwire = { kind: 'answer', in_reply_to: MSG_ID, outcome: 'answered', later: 1 };
    expect(messageOf(parseFrame(brief({ peerwire }))).mark).toEqual({
      kind: 'answer',
      in_reply_to: MSG_ID,
      outcome: 'answered',
    });
  });

  it('tells by its mark that its sender stands still until the answer', () => {
    const markOf = (ask: unknown) =>
      messageOf(parseFrame(brief({ peerwire: { kind: 'message', ask } }))).mark;
    expect(markOf(true)).toEqual({ kind: 'message', ask: true });
    expect([markOf(false), markOf('yes'), markOf(undefined)]).toEqual(Array(3).fill({ kind: 'message' }));
  });

  it('with a kind of mark we do not know is a note, so that nobody answers it by itself', () => {
    expect(messageOf(parseFrame(brief({ peerwire: { kind: 'poke' } }))).mark).toEqual({ kind: 'note' });
    expect(messageOf(parseFrame(brief({ peerwire: 'answer' }))).mark).toBeNull();
  });
});

describe('a line that is nothing we act on is ignored and says why', () => {
  it.each([
    ['', 'a line that is no JSON object'],
    ['{"type":"user"', 'a line that is no JSON object'],
    ['[1]', 'a line that is no JSON object'],
    ['null', 'a line that is no JSON object'],
    ['{}', 'unknown frame type (none)'],
    ['{"type":"shutdown"}', 'unknown frame type "shutdown"'],
    ['{"type":"auth","token":7}', 'an auth line without a token'],
    ['{"type":"control","action":"stop"}', 'unknown control action "stop"'],
    ['{"type":"control","action":"notify_when_idle","msg_id":"x"}', 'an incomplete notify_when_idle'],
    [
      '{"type":"control","action":"peer_message_status","status":"held"}',
      'an incomplete peer_message_status',
    ],
    [HELD.replace('"held"', '"pondered"'), 'an incomplete peer_message_status'],
  ])('%s', (line, reason) => {
    expect(parseFrame(line)).toEqual({ type: 'ignored', reason });
  });
});

describe('parsing', () => {
  const REAL = [BRIEF, CHAINED, SUBSCRIPTION, IDLE_NOTICE, HELD, DROPPED];
  const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));

  it(`survives thousands of damaged frames (FUZZ_SEED=${seed})`, () => {
    const damage = fc.record({
      at: fc.nat({ max: 600 }),
      take: fc.nat({ max: 20 }),
      put: fc.oneof(
        fc.constantFrom(
          '"',
          '{',
          '}',
          '[',
          ']',
          ',',
          ':',
          'null',
          '1e999',
          '\\u0000',
          '\\ud800',
          '__proto__',
        ),
        fc.string({ maxLength: 4 }),
        fc.json({ maxDepth: 2 }),
      ),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...REAL),
        fc.array(damage, { minLength: 1, maxLength: 4 }),
        (line, damages) => {
          let damaged = line;
          for (const { at, take, put } of damages)
            damaged = damaged.slice(0, at) + put + damaged.slice(at + take);
          expect(['auth', 'user', 'control', 'ignored']).toContain(parseFrame(damaged).type);
        },
      ),
      { seed, numRuns: 4_000 },
    );
  });

  it(`survives any value in any field (FUZZ_SEED=${seed})`, () => {
    const anyValue = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(fc.constantFrom(...REAL), fc.nat(), anyValue, (line, index, value) => {
        const frame = JSON.parse(line);
        const keys = Object.keys(frame);
        frame[keys[index % keys.length]!] = value;
        expect(['auth', 'user', 'control', 'ignored']).toContain(parseFrame(JSON.stringify(frame)).type);
      }),
      { seed, numRuns: 4_000 },
    );
  });

  it('survives nesting as deep as a frame can hold', () => {
    expect(parseFrame('['.repeat(1_000_000)).type).toBe('ignored');
    expect(parseFrame('{"a":'.repeat(200_000)).type).toBe('ignored');
    expect(parseFrame(`${'['.repeat(500_000)}${']'.repeat(500_000)}`).type).toBe('ignored');
    const deep = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
    expect(parseFrame(BRIEF.replace(/\}$/, `,"deep":${deep}}`)).type).toBe('user');
  });
});
