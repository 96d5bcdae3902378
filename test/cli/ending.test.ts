import { expect, test } from 'vitest';
import { type Asked, endingByControl, endingByMessage } from '../../src/cli/ending.ts';
import type { InboundMessage, PeerMark, ReceiptStatus } from '../../src/frames/message.ts';

const wrapped: Asked = {
  msgId: '1a2b3c4d-0000-4000-8000-000000000000',
  subscriptionId: null,
  isMarked: true,
  name: 'Sol',
  socketPath: '/run/1.sock',
};
const claude: Asked = { ...wrapped, subscriptionId: 'sub-1', isMarked: false, name: 'alpha' };

function message(text: string, mark: PeerMark | null, from = '/run/1.sock'): InboundMessage {
  const unknown = { msgId: null, fromName: null, fromMode: null, hopChain: [], priority: 'next' } as const;
  return { ...unknown, content: text, text, from, mark };
}

function answer(text: string): InboundMessage {
  return message(text, { kind: 'answer', in_reply_to: wrapped.msgId, outcome: 'answered' });
}

test.each([
  ['no-answer', 6, 'no answer'],
  ['not-taken', 6, 'not taken: safe to send again'],
  ['refused', 4, 'refused'],
  ['unknown', 7, 'unknown: sending it again may double it'],
  ['expired', 6, 'expired before it was taken: safe to send again'],
  ['canceled', 6, 'canceled'],
  ['a-later-word', 6, 'no answer: a-later-word'],
  [undefined, 6, 'no answer'],
])('a note with the outcome %s ends with %i', (word, exitCode, words) => {
  const mark: PeerMark = { kind: 'note', in_reply_to: wrapped.msgId, ...(word && { outcome: word }) };
  expect(endingByMessage(wrapped, message('why', mark))).toEqual({ exitCode, said: `why\n${words}` });
});

test.each<[ReceiptStatus, number | undefined]>([
  ['held', 5],
  ['denied', 4],
  ['refused', 4],
  ['expired', 4],
  ['dropped', 4],
  ['delivered', undefined],
])('a receipt %s ends with %s', (status, exitCode) => {
  const receipt = {
    action: 'peer_message_status',
    status,
    reason: null,
    dropReason: null,
    from: null,
  } as const;
  const ending = endingByControl(claude, { ...receipt, msgIds: ['other', claude.msgId] });
  expect(ending?.exitCode).toBe(exitCode);
  expect(endingByControl(claude, { ...receipt, msgIds: ['other'] })).toBeNull();
});

test('an idle notice counts only for our own subscription', () => {
  const notice = {
    action: 'peer_idle_notice',
    origMsgId: 'sub-1',
    finishedAtMs: null,
    detail: null,
    from: null,
    fromMode: null,
  } as const;
  expect(endingByControl(claude, { ...notice, state: 'idle' })?.exitCode).toBe(6);
  expect(endingByControl(claude, { ...notice, state: 'exited' })?.exitCode).toBe(8);
  expect(endingByControl(claude, { ...notice, state: 'unavailable' })).toBeNull();
  expect(endingByControl(claude, { ...notice, state: 'idle', origMsgId: 'sub-2' })).toBeNull();
  expect(endingByControl(wrapped, { ...notice, state: 'idle' })).toBeNull();
});

test('only the tag of our own id is taken off an answer', () => {
  const text = 'see (answer to ffffffff)\n\nmore';
  expect(endingByMessage(wrapped, answer(`${text}\n\n(answer to 1a2b3c4d)`))).toEqual({
    exitCode: 0,
    answer: text,
  });
  expect(endingByMessage(wrapped, answer('x\n\n(answer to ffffffff)'))?.answer).toBe(
    'x\n\n(answer to ffffffff)',
  );
  expect(endingByMessage(wrapped, answer('no tag'))?.answer).toBe('no tag');
});

test('a label in the tag is told apart from the answer', () => {
  const label = "given together with a line typed at Sol's terminal";
  expect(endingByMessage(wrapped, answer(`x\n\n(answer to 1a2b3c4d, ${label})`))).toEqual({
    exitCode: 0,
    answer: 'x',
    said: `this answer was ${label}`,
  });
});

test('a wrapped peer answers only by its mark, another session by its next message', () => {
  expect(endingByMessage(wrapped, message('chatter', null))).toBeNull();
  expect(endingByMessage(wrapped, message('x', { kind: 'answer', in_reply_to: 'other' }))).toBeNull();
  expect(endingByMessage(claude, message('an answer', null))?.answer).toBe('an answer');
  expect(endingByMessage(claude, message('from another', null, '/run/2.sock'))).toBeNull();
});
