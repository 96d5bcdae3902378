import { expect, test } from 'vitest';
import type { ReceiptStatus } from '../../src/frames/message.ts';
import type { FoundAgent } from '../../src/wrapper/agents.ts';
import { News } from '../../src/wrapper/news.ts';
import type { Outbox } from '../../src/wrapper/outbox.ts';
import { OwnMessages } from '../../src/wrapper/own-messages.ts';

const ADDRESS = { socketPath: '/s/2.sock', pid: 2, procStart: '1', sessionId: null };

/** A message that is sent, after whose call these receipts come; what the model is told of it then. */
async function toldAfter(...receipts: readonly [ReceiptStatus, dropReason?: string][]): Promise<string> {
  const sent: string[] = [];
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
  const message = { text: 'hello', turnId: 't', isAsk: false, wantsIdleNotice: false };
  const { written, leave } = own.send(to, message, { hopChain: [], isNotice: false }, () => {});
  await written;
  leave();
  const msgIds = [sent[0] ?? ''];
  for (const [status, dropReason = null] of receipts) {
    own.receipt({ action: 'peer_message_status', status, msgIds, reason: null, dropReason, from: null });
  }
  own.close();
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
