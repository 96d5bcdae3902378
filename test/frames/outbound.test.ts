import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { wrapEnvelope } from '../../src/frames/envelope.ts';
import { controlFrame, userFrame } from '../../src/frames/outbound.ts';
import { type Frame, parseFrame } from '../../src/frames/parse.ts';
import { BRIEF, CHAINED, DROPPED, HELD, IDLE_NOTICE, MSG_ID, SOCKET, SUBSCRIPTION } from './captured.ts';

/** The real bench measures these again on every run. */
const PINNED = JSON.parse(
  readFileSync(new URL('fixtures/claude-2.1.332-user-frame.json', import.meta.url), 'utf8'),
);

const ORIG_ID = '42e0fa68-499c-4c79-89be-cce6a3918573';

function messageLine(text: string, hopChain: string[]): string {
  const content = wrapEnvelope({ from: SOCKET, fromName: 'alpha', fromMode: 'prompting', hopChain, text });
  return JSON.stringify(
    userFrame({ msgId: MSG_ID, from: SOCKET, content, priority: 'next', mark: { kind: 'message' } }),
  );
}

describe('what we write', () => {
  it('is, but for our own field at the end, byte for byte what Claude Code writes', () => {
    const mark = ',"peerwire":{"kind":"message"}}';
    expect(messageLine('brief for sol', [])).toBe(BRIEF.replace(/\}$/, mark));
    const chained = CHAINED.replace(/,"local_chain":"\w+"\}$/, mark);
    expect(messageLine('chained reply', ['2b118bb85e45326528054084'])).toBe(chained);
  });

  it.each(['user', 'chained'] as const)('has the bytes of the frame pinned as %s', (name) => {
    const { message } = parseFrame(PINNED[name]) as Extract<Frame, { type: 'user' }>;
    const content = wrapEnvelope(message);
    const frame = userFrame({ ...message, msgId: message.msgId!, content, mark: { kind: 'message' } });
    const { peerwire: _, ...theirs } = frame;
    expect(JSON.stringify(theirs)).toBe(PINNED[name].replace(/,"local_chain":"[0-9a-f,]+"\}$/, '}'));
  });

  it('as a subscription, an idle notice and receipts has the keys in the order of Claude Code', () => {
    const from = SOCKET;
    const fromMode = 'prompting';
    const frames = {
      [SUBSCRIPTION]: controlFrame(MSG_ID, { action: 'notify_when_idle', from, fromMode }),
      [IDLE_NOTICE]: controlFrame(MSG_ID, {
        action: 'peer_idle_notice',
        origMsgId: ORIG_ID,
        state: 'idle',
        finishedAtMs: 1796061425754,
        detail: 'one line of the last answer',
        from,
        fromMode,
      }),
      [HELD]: controlFrame(MSG_ID, {
        action: 'peer_message_status',
        status: 'held',
        reason: 'waits for its user',
        origMsgId: ORIG_ID,
        from,
      }),
      [DROPPED]: controlFrame(MSG_ID, {
        action: 'peer_message_status',
        status: 'dropped',
        reason: 'too fast',
        origMsgId: ORIG_ID,
        dropReason: 'rate-limited',
        droppedMsgIds: ['0b9c7a52-1111-4222-8333-944455566677'],
        from,
      }),
    };
    for (const [line, frame] of Object.entries(frames)) expect(JSON.stringify(frame)).toBe(line);
  });

  it('leaves out what is not known', () => {
    const frame = controlFrame(MSG_ID, {
      action: 'peer_idle_notice',
      origMsgId: ORIG_ID,
      state: 'exited',
      from: SOCKET,
      fromMode: 'bypass',
    });
    expect(Object.keys(frame)).toEqual([
      'type',
      'action',
      'orig_msg_id',
      'state',
      'from',
      'from_mode',
      'msgV',
      'msg_id',
    ]);
  });

  it('without an address has no from at all', () => {
    const mark = { kind: 'message' } as const;
    const frame = userFrame({ msgId: MSG_ID, from: null, content: 'x', priority: 'later', mark });
    expect(Object.keys(frame)).toEqual(['msgV', 'msg_id', 'type', 'message', 'priority', 'peerwire']);
  });

  it('is read by the other wrapper with its mark', () => {
    const mark = { kind: 'answer', in_reply_to: ORIG_ID, outcome: 'answered' } as const;
    const content = wrapEnvelope({
      from: SOCKET,
      fromName: 'Sol',
      fromMode: 'bypass',
      hopChain: [],
      text: 'yes',
    });
    const line = JSON.stringify(userFrame({ msgId: MSG_ID, from: SOCKET, content, priority: 'now', mark }));
    expect(parseFrame(line)).toMatchObject({
      message: { from: SOCKET, fromName: 'Sol', fromMode: 'bypass', text: 'yes', priority: 'now', mark },
    });
  });
});
