import { expect, test } from 'vitest';
import type { ReceiptStatus } from '../../src/frames/message.ts';
import type { Message } from '../../src/store/record.ts';
import type { Word } from '../../src/tools/courier.ts';
import type { FoundAgent } from '../../src/wrapper/agents.ts';
import { News } from '../../src/wrapper/news.ts';
import type { Outbox } from '../../src/wrapper/outbox.ts';
import { OwnMessages } from '../../src/wrapper/own-messages.ts';
import type { Connecting } from '../../src/wrapper/verify.ts';

const ADDRESS = { socketPath: '/s/2.sock', pid: 2, procStart: '1', sessionId: 'session' };

const ADDRESSEE: Connecting = { pid: 2, procStart: '1', row: null };
const STRANGERS: [string, Connecting][] = [
  ['another process', { pid: 3, procStart: '1', row: null }],
  ['a process that took over its number', { pid: 2, procStart: '2', row: null }],
  [
    'another process with a session of its own',
    { pid: 3, procStart: '1', row: { pid: 3, name: 'beta', sessionId: 'other' } },
  ],
];
const MOVED: Connecting = { pid: 3, procStart: '1', row: { pid: 3, name: 'alpha', sessionId: 'session' } };

/** One message of the peer's own to alpha: what was written, and what is heard of it. */
function sendOne(isAsk: boolean) {
  const sent: string[] = [];
  const heard: Word[] = [];
  const write = async (_: unknown, frame: { msg_id: string }) => {
    sent.push(frame.msg_id);
    return { delivery: 'written' };
  };
  const news = new News();
  const own = new OwnMessages({
    name: 'Sol',
    socketPath: '/s/1.sock',
    hopToken: '0'.repeat(24),
    fromMode: () => 'prompting',
    outbox: { write, send: write } as unknown as Outbox,
    news,
    log: { write: () => {}, hide: () => {}, close: async () => {} },
    receive: () => {},
  });
  const to = { name: 'alpha', kind: 'claude', address: ADDRESS, row: {} } as unknown as FoundAgent;
  const message = { text: 'hello', turnId: 't', isAsk, wantsIdleNotice: false };
  const { written, leave } = own.send(to, message, { hopChain: [], isNotice: false }, (word) =>
    heard.push(word),
  );
  const receipt = (status: ReceiptStatus, from = ADDRESSEE, dropReason: string | null = null) => {
    const about = { status, msgIds: [sent[0] ?? ''], reason: null, dropReason, from: null };
    own.receipt({ action: 'peer_message_status', ...about }, from);
  };
  const takes = (from: Connecting) =>
    own.takes(
      { text: 'yes', sender: { replyTo: null } } as Message,
      { kind: 'answer', in_reply_to: sent[0] ?? '' },
      from,
    );
  return { own, sent, heard, news, written, leave, receipt, takes };
}

/** A message that is sent, after whose call these receipts come; what the model is told of it then. */
async function toldAfter(...receipts: readonly [ReceiptStatus, dropReason?: string][]): Promise<string> {
  const { written, leave, receipt, news } = sendOne(false);
  await written;
  leave();
  for (const [status, dropReason] of receipts) receipt(status, ADDRESSEE, dropReason);
  return news.before('next', '').replace(/message \w{8}/, 'message …');
}

test('a receipt that comes after the call is told with the next message', async () => {
  expect(await toldAfter(['held'])).toContain('held');
});

test('a decision is not overwritten by the `held` that it overtook', async () => {
  const told = await toldAfter(['denied'], ['held']);
  expect(told).toBe(await toldAfter(['denied']));
  expect(told).toBe(await toldAfter(['held'], ['denied']));
});

test('a drop for coming too fast decides nothing: the frame is sent again', async () => {
  expect(await toldAfter(['dropped', 'rate-limited'])).toBe('');
  expect(await toldAfter(['dropped', 'rate-limited'], ['held'])).toContain('held');
});

test.each(STRANGERS)('a receipt of %s is nothing', (_, stranger) => {
  const { own, sent, heard, receipt } = sendOne(true);
  receipt('denied', stranger);
  receipt('dropped', stranger, 'rate-limited');
  own.close();
  expect(heard).toEqual([]);
  expect(sent).toHaveLength(1);
});

test.each(STRANGERS)('a marked answer of %s is a message like any other', (_, stranger) => {
  const { own, heard, takes } = sendOne(true);
  expect(takes(stranger)).toBe(false);
  expect(heard).toEqual([]);
  expect(takes(ADDRESSEE)).toBe(true);
  own.close();
  expect(heard).toMatchObject([{ type: 'reply', text: 'yes' }]);
});

test('a session that goes on in another process still answers', () => {
  const { own, heard, takes, receipt } = sendOne(true);
  receipt('held', MOVED);
  expect(takes(MOVED)).toBe(true);
  own.close();
  expect(heard).toMatchObject([{ type: 'receipt' }, { type: 'reply' }]);
});

test('a process that had ended when its last word was read is known by its pid', () => {
  const { own, heard, receipt } = sendOne(true);
  receipt('denied', { ...ADDRESSEE, procStart: null });
  own.close();
  expect(heard).toMatchObject([{ type: 'receipt', status: 'denied' }]);
});
