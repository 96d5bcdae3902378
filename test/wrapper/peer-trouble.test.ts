import { rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Publication } from '../../src/registry/publish.ts';
import { until } from '../os/fixtures.ts';
import { rowOf, TOKEN } from '../registry/fixtures.ts';
import { ServedPeer } from './served-peer.ts';

/** Answers a text at once, except one that says `slow`. */
const script = (text: string) => (text.includes('slow') ? null : 'an answer');

describe('a thread that cannot be read for a moment', () => {
  it('while a later turn runs leaves no message of an earlier turn without its answer', async () => {
    await using served = await ServedPeer.open({ script });
    const sender = await served.sender('alpha');
    served.thread.failingReads = 2;
    const early = await sender.send('early');
    const late = await sender.send('slow and late');
    await until(() => served.thread.given.length === 2);
    expect(sender.came).toEqual([]);
    await until(() => sender.repliesTo(early.msgId).length === 1);
    expect(sender.repliesTo(early.msgId)).toMatchObject([{ peerwire: { kind: 'answer' } }]);
    expect(sender.repliesTo(late.msgId)).toEqual([]);
    served.thread.finish('at last');
    await until(() => sender.repliesTo(late.msgId).length === 1);
    expect(sender.came).toHaveLength(2);
  });
});

describe('a reconnect', () => {
  it('that finds the thread at work on a turn of somebody else starts the queue at its end, without a `now`', async () => {
    await using served = await ServedPeer.open({ script });
    const sender = await served.sender('alpha');
    const before = await sender.send('slow, before');
    await until(() => served.thread.given.length === 1);
    served.thread.disconnect();
    const meanwhile = await sender.send('meanwhile');
    served.thread.finish('answered while nobody listened');
    served.thread.typed();
    served.thread.connect();
    await until(() => sender.repliesTo(before.msgId).length === 1);
    expect(served.thread.given).toHaveLength(1);
    served.thread.finish('for whoever typed');
    await until(() => sender.repliesTo(meanwhile.msgId).length === 1);
    expect(sender.repliesTo(meanwhile.msgId)).toMatchObject([{ peerwire: { kind: 'answer' } }]);
  });

  it('a start that is refused meanwhile is no word to the sender: it is made again', async () => {
    await using served = await ServedPeer.open({ script });
    const sender = await served.sender('alpha');
    served.thread.refusal = 'draining';
    const { msgId } = await sender.send('hello');
    await until(() => served.logged.some(({ event }) => event === 'start'));
    served.thread.refusal = null;
    served.thread.disconnect();
    served.thread.connect();
    await until(() => sender.repliesTo(msgId).length === 1);
    expect(sender.repliesTo(msgId)).toMatchObject([{ peerwire: { kind: 'answer' } }]);
  });
});

it('a row that cannot be written when a turn starts is no word to the sender: it gets its answer', async () => {
  await using served = await ServedPeer.open({ script });
  const { sessionsDir, folder: socketDir } = served;
  const problems: unknown[] = [];
  const onProblem = (error: unknown) => problems.push(error);
  const row = rowOf(process.pid, { status: 'busy', messagingSocketPath: served.socketPath });
  const publication = Publication.open({ places: { sessionsDir, socketDir }, row, token: TOKEN, onProblem });
  served.peer.publish(publication);
  const sender = await served.sender('alpha');
  rmSync(sessionsDir, { recursive: true });
  writeFileSync(sessionsDir, 'no folder any more');
  const { msgId } = await sender.send('hello');
  await until(() => sender.repliesTo(msgId).length === 1);
  expect(problems.length).toBeGreaterThan(0);
  expect(sender.came).toMatchObject([{ peerwire: { kind: 'answer', in_reply_to: msgId } }]);
  publication.withdrawKey();
});
