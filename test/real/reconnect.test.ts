import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DaemonProxy } from './daemon-proxy.ts';
import { commentary, final, script } from './model-script.ts';
import { rowOf, turnRights } from './peer-facts.ts';
import { runPeer } from './peer-process.ts';
import { poll } from './poll.ts';
import { type Frame, RawClient } from './raw-client.ts';
import type { ScriptPeer } from './script-peer.ts';
import { type Bench, openBench, openSender, openSol, repliesTo, replyTo, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

let world: World;
let bench: Bench;
let proxy: DaemonProxy;
let a: ScriptPeer;
let b: ScriptPeer;
let other: RawClient;
let sol: Sol;

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  proxy = await DaemonProxy.start(world);
  a = await openSender(bench, 'alpha');
  b = await openSender(bench, 'beta');
  other = await RawClient.connect(proxy.serverPath);
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});
beforeEach(async () => {
  printWhenFailed(world);
  sol = await openSol(bench);
});
afterEach(async () => {
  proxy.passAll();
  await sol.process.stop();
});

async function send(from: ScriptPeer, text: string, priority?: 'now' | 'later'): Promise<string> {
  return (await from.send({ to: sol.name, text, ...(priority && { priority }) })).msgId;
}

/** One more message is answered: whatever was going to be sent twice would have been sent by now. */
async function nothingMoreComes(): Promise<void> {
  await replyTo(b, await send(b, 'a last one', 'later'));
}

const answered = (body: string) => ({ kind: 'answer', outcome: 'answered', body, label: '' });
const row = () => rowOf(world, sol.name)!;

/** A `turn/start` for the message with this text. */
const starts = (text: string) => (frame: Frame) =>
  frame.method === 'turn/start' && JSON.stringify(frame.params).includes(text);

describe('the connection drops while the server lives', () => {
  test('a turn goes on: its sender gets the answer once, and the queue follows in order', async () => {
    const first = await send(a, `one ${script([[commentary('half'), { hold: 'cut' }, final('A1')]])}`);
    await bench.model.held('cut');
    const second = await send(b, `two ${script([[final('A2')]])}`);
    const third = await send(a, `three ${script([[final('A3')]])}`);
    for (let round = 0; round < 3; round++) {
      const cut = proxy.connections;
      proxy.cut();
      await poll(() => proxy.connections > cut && row().waitingFor === undefined, 5_000, 'no reconnect');
    }
    bench.model.release('cut');
    expect(await replyTo(a, first)).toEqual(answered('A1'));
    expect(await replyTo(b, second)).toEqual(answered('A2'));
    expect(await replyTo(a, third)).toEqual(answered('A3'));
    await nothingMoreComes();
    expect([repliesTo(a, first), repliesTo(b, second), repliesTo(a, third)]).toEqual([1, 1, 1]);
    const asked = bench.model.requests.map(({ text }) => /\n\n(one|two|three) /.exec(text)?.[1]);
    expect(asked.filter(Boolean)).toEqual(['one', 'two', 'three']);
  });

  test('a turn that ends while nobody listens is read back; till then the row says what is missing', async () => {
    const first = await send(a, `one ${script([[{ hold: 'unseen' }, final('A1')]])}`);
    await bench.model.held('unseen');
    const second = await send(b, `two ${script([[final('A2')]])}`);
    proxy.cutOff();
    await poll(() => row().waitingFor, 5_000, 'the row says nothing');
    expect(row()).toMatchObject({ status: 'busy', waitingFor: 'Codex daemon' });
    bench.model.release('unseen');
    await poll(() => bench.model.requests.at(-1)?.end === 'answered', 5_000, 'the turn did not end');
    await sleep(300);
    expect(repliesTo(a, first)).toBe(0);
    proxy.takeAgain();
    expect(await replyTo(a, first)).toEqual(answered('A1'));
    expect(await replyTo(b, second)).toEqual(answered('A2'));
    await poll(() => row().status === 'idle', 5_000, 'the row stays busy');
    expect(row().waitingFor).toBeUndefined();
  });

  test('a message whose acknowledgement is lost is answered once', async () => {
    let startId: Frame['id'];
    proxy.onRequest = (frame) => {
      if (starts('unconfirmed')(frame)) startId = frame.id;
      return frame;
    };
    proxy.onAnswer = (frame) => {
      if (frame.method !== undefined || startId === undefined || frame.id !== startId) return frame;
      startId = undefined;
      proxy.cut();
      return null;
    };
    const first = await send(a, `unconfirmed ${script([[{ delayMs: 200 }, final('A1')]])}`);
    const second = await send(b, `behind it ${script([[final('A2')]])}`);
    expect(await replyTo(a, first)).toEqual(answered('A1'));
    expect(await replyTo(b, second)).toEqual(answered('A2'));
    await nothingMoreComes();
    expect([repliesTo(a, first), repliesTo(b, second)]).toEqual([1, 1]);
    expect(bench.model.requests.filter(({ text }) => text.includes('unconfirmed'))).toHaveLength(1);
  });

  test('a message that the thread does not show afterwards is unknown to its sender; the next is answered', async () => {
    proxy.onRequest = (frame) => {
      if (!starts('lost on the way')(frame)) return frame;
      proxy.cut();
      return null;
    };
    const first = await send(a, 'lost on the way');
    const second = await send(b, `behind it ${script([[final('A2')]])}`);
    expect(await replyTo(a, first)).toMatchObject({ kind: 'note', outcome: 'unknown' });
    expect(await replyTo(b, second)).toEqual(answered('A2'));
    await nothingMoreComes();
    expect([repliesTo(a, first), repliesTo(b, second)]).toEqual([1, 1]);
  });

  test('a thread that is archived meanwhile ends the peer with that cause, and the senders are told', async () => {
    const first = await send(a, `one ${script([[{ hold: 'archived' }, final('never')]])}`);
    await bench.model.held('archived');
    const second = await send(b, 'two');
    proxy.cutOff();
    await poll(() => row().waitingFor, 5_000, 'the row says nothing');
    await other.call('thread/archive', { threadId: sol.threadId });
    proxy.takeAgain();
    expect(await sol.process.exited).toEqual({ code: 0, signal: null });
    expect(sol.process.stderr).toBe(`${sol.name} is closed: its thread was archived in Codex.\n`);
    expect(await replyTo(a, first)).toMatchObject({ kind: 'note', outcome: 'no-answer' });
    expect(await replyTo(b, second)).toMatchObject({ kind: 'note', outcome: 'not-taken' });
  });
});

test('a turn has the rights that were asked for, although the thread was widened a moment before', async () => {
  // The wrapper has not heard of it when it hands over the message.
  proxy.onAnswer = (frame) => (frame.method === 'thread/settings/updated' ? null : frame);
  await other.call('thread/settings/update', {
    threadId: sol.threadId,
    sandboxPolicy: { type: 'dangerFullAccess' },
    approvalPolicy: 'on-request',
  });
  await replyTo(a, await send(a, 'narrow again'));
  expect(turnRights(world, sol.threadId)).toEqual([{ sandbox: 'read-only', approval: 'never' }]);
});

describe('rights that cannot be repaired', () => {
  /** As Codex does with fields it does not take: no error, no effect. */
  function ignoreRepairs(): void {
    proxy.onRequest = (frame) => {
      if (frame.method !== 'thread/settings/update' && frame.method !== 'thread/resume') return frame;
      const { sandbox, sandboxPolicy, approvalPolicy, ...params } = frame.params;
      return { ...frame, params };
    };
  }

  test('are said, and nothing is dispatched until they are as asked again', async () => {
    ignoreRepairs();
    await other.call('thread/settings/update', {
      threadId: sol.threadId,
      sandboxPolicy: { type: 'dangerFullAccess' },
    });
    const saysSo = /may do more than asked.*danger-full-access.*read-only/;
    await poll(
      () => saysSo.test(String(row().waitingFor)),
      5_000,
      () => `the row says ${row().waitingFor}`,
    );
    const id = await send(a, `now and here ${script([[final('A1')]])}`, 'now');
    await sleep(1_000);
    expect(row().status).toBe('busy');
    expect(repliesTo(a, id)).toBe(0);
    expect(bench.model.requests.filter(({ text }) => text.includes('now and here'))).toHaveLength(0);
    proxy.passAll();
    expect(await replyTo(a, id)).toEqual(answered('A1'));
    expect(turnRights(world, sol.threadId)).toEqual([{ sandbox: 'read-only', approval: 'never' }]);
  });

  test('keep a peer from opening', async () => {
    const wide = await other.startThread(world.work, { sandbox: 'danger-full-access' });
    ignoreRepairs();
    const options = { env: world.env, cwd: world.work };
    const { code, stderr } = await runPeer(['open', 'Wide', '--headless', '--thread', wide], options);
    expect(code).toBe(8);
    expect(stderr).toMatch(/^peer: No message is given to Wide.*danger-full-access.*\n$/);
    expect(rowOf(world, 'Wide')).toBeUndefined();
  });
});
