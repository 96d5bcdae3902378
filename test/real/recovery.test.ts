import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Message, MessageRecord, ReplyAddress } from '../../src/store/record.ts';
import { openStore } from '../../src/store/store.ts';
import { DaemonProxy } from './daemon-proxy.ts';
import { commentary, final, script } from './model-script.ts';
import { peerLog } from './peer-log.ts';
import type { RawClient } from './raw-client.ts';
import type { ScriptPeer } from './script-peer.ts';
import {
  type Bench,
  openBench,
  openRawClient,
  openSender,
  openSol,
  repliesTo,
  replyTo,
  type Sol,
} from './sol.ts';
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
  other = await openRawClient(bench);
  proxy = await DaemonProxy.start(world);
  a = await openSender(bench, 'alpha');
  b = await openSender(bench, 'beta');
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  printWhenFailed(world);
  proxy.passAll();
  sol = await openSol(bench);
});

async function send(from: ScriptPeer, text: string): Promise<string> {
  return (await from.send({ to: sol.name, text })).msgId;
}

async function killAndReopen(): Promise<void> {
  process.kill(sol.process.pid, 'SIGKILL');
  await sol.process.exited;
  proxy.passAll();
  sol = await openSol(bench, [], sol.name);
}

/** How often the thread has a text of ours. */
async function timesInThread(text: string): Promise<number> {
  const items = (await other.turns(sol.threadId)).flatMap((turn) => turn.items);
  return items.filter((item) => item.type === 'userMessage' && JSON.stringify(item).includes(text)).length;
}

/** One more message is answered: what was to come a second time would have come. */
async function nothingMoreComes(): Promise<void> {
  await replyTo(b, await send(b, 'a last one'));
}

const answered = (body: string) => ({ kind: 'answer', outcome: 'answered', body, label: '' });

describe('a wrapper that is killed, and its peer opened again', () => {
  test('runs what was waiting, in order, once', async () => {
    const first = await send(a, `one ${script([[{ hold: 'waiting' }, final('A1')]])}`);
    await bench.model.held('waiting');
    const second = await send(b, `two ${script([[final('A2')]])}`);
    const third = await send(a, `three ${script([[final('A3')]])}`);
    await killAndReopen();
    bench.model.release('waiting');
    expect(await replyTo(a, first)).toEqual(answered('A1'));
    expect(await replyTo(b, second)).toEqual(answered('A2'));
    expect(await replyTo(a, third)).toEqual(answered('A3'));
    await nothingMoreComes();
    expect([repliesTo(a, first), repliesTo(b, second), repliesTo(a, third)]).toEqual([1, 1, 1]);
    expect(await Promise.all(['one', 'two', 'three'].map((text) => timesInThread(`\\n\\n${text} `)))).toEqual(
      [1, 1, 1],
    );
  });

  test('answers what was answered while nobody was there', async () => {
    const id = await send(a, `slow ${script([[commentary('hm'), { hold: 'alone' }, final('done alone')]])}`);
    await bench.model.held('alone');
    process.kill(sol.process.pid, 'SIGKILL');
    await sol.process.exited;
    bench.model.release('alone');
    await expect.poll(async () => (await other.turns(sol.threadId))[0]?.status).toBe('completed');
    sol = await openSol(bench, [], sol.name);
    expect(await replyTo(a, id)).toEqual(answered('done alone'));
    await nothingMoreComes();
    expect([repliesTo(a, id), await timesInThread('slow ')]).toEqual([1, 1]);
  });

  test('cannot tell of what it was handing over, and does not hand it over again', async () => {
    proxy.onRequest = (frame) => (frame.method === 'turn/start' ? null : frame);
    const id = await send(a, 'on its way');
    await expect.poll(() => peerLog(world, sol.name).some((line) => line.event === 'start')).toBe(true);
    await killAndReopen();
    expect(await replyTo(a, id, 20_000)).toMatchObject({ kind: 'note', outcome: 'unknown' });
    await nothingMoreComes();
    expect([repliesTo(a, id), await timesInThread('on its way')]).toEqual([1, 0]);
  });

  test('finds what Codex took although it never heard of it', async () => {
    proxy.onAnswer = (frame) => (JSON.stringify(frame).includes('taken unseen') ? null : frame);
    const id = await send(a, `taken unseen ${script([[final('seen later')]])}`);
    await expect.poll(() => timesInThread('taken unseen')).toBe(1);
    await killAndReopen();
    expect(await replyTo(a, id)).toEqual(answered('seen later'));
    await nothingMoreComes();
    expect([repliesTo(a, id), await timesInThread('taken unseen')]).toEqual([1, 1]);
  });
});

describe('what an earlier wrapper left in the record', () => {
  /** Writes into the store as a wrapper would that was killed after `steps`. */
  async function leave(
    text: string,
    steps: (record: MessageRecord, id: string) => Promise<void>,
    over: Partial<Message> = {},
  ) {
    await sol.process.stop();
    const replyTo: ReplyAddress = {
      socketPath: a.socketPath,
      pid: a.pid,
      procStart: null,
      sessionId: a.sessionId,
    };
    const message: Message = {
      id: crypto.randomUUID(),
      msgId: crypto.randomUUID(),
      text,
      priority: 'next',
      mark: null,
      inReplyTo: null,
      hopChain: [],
      sender: { kind: 'claude', name: 'alpha', replyTo },
      afterTurnId: null,
      receivedAtMs: Date.now(),
      ...over,
    };
    const record = await openStore({
      stateDir: `${world.stateDir}/peer`,
      threadId: sol.threadId,
      name: sol.name,
      instance: crypto.randomUUID(),
    });
    await record.receive(message);
    await steps(record, message.id);
    await record.close();
    sol = await openSol(bench, [], sol.name);
    return message.msgId ?? '';
  }
  const outcome = { state: 'answered', text: 'decided before', together: null } as const;
  const claim = (id: string) => ({ clientId: `peer:${id}`, afterTurnId: null });

  test('an outcome that nobody was told is told', async () => {
    const id = await leave('decided', async (record, key) => {
      await record.claim(key, claim(key));
      await record.outcome(key, outcome);
    });
    expect(await replyTo(a, id)).toEqual(answered('decided before'));
    await nothingMoreComes();
    expect([repliesTo(a, id), await timesInThread('decided')]).toEqual([1, 0]);
  });

  test('a reply that may have been written is told of in one note, and never written again', async () => {
    const id = await leave('half told', async (record, key) => {
      await record.claim(key, claim(key));
      await record.outcome(key, outcome);
      await record.claimReply(key);
    });
    const told = await replyTo(a, id);
    expect(told.kind).toBe('note');
    expect(told.body).toContain('may have reached you');
    expect(told.body).not.toContain('decided before');
    await sol.process.stop();
    sol = await openSol(bench, [], sol.name);
    await nothingMoreComes();
    expect(repliesTo(a, id)).toBe(1);
  });

  test('a message that the thread has is not run, whatever the record says', async () => {
    const text = `restored from a copy ${script([[final('run before')]])}`;
    const id = await leave(text, async (_record, key) => {
      const before = { clientUserMessageId: `peer:${key}` };
      await other.call('thread/resume', { threadId: sol.threadId, excludeTurns: true });
      await other.turnEnd(await other.startTurn(sol.threadId, text, before));
    });
    expect(await replyTo(a, id)).toEqual(answered('run before'));
    await nothingMoreComes();
    expect([repliesTo(a, id), await timesInThread('restored from a copy')]).toEqual([1, 1]);
  });

  test('what waited for more than an hour is expired, not run', async () => {
    const old = { receivedAtMs: Date.now() - 61 * 60 * 1000 };
    const id = await leave('too late', async () => {}, old);
    expect(await replyTo(a, id)).toMatchObject({ kind: 'note', outcome: 'expired' });
    await nothingMoreComes();
    expect(await timesInThread('too late')).toBe(0);
  });

  test('what was sent to another thread is refused, not run in this one', async () => {
    const before = sol.threadId;
    const id = await leave('for the old thread', async () => {});
    // Run in its own thread first, so that only the next one is left for the new thread.
    await replyTo(a, id);
    const late = await leaveIn(before, 'for the old thread too');
    sol = await openSol(bench, ['--new'], sol.name);
    expect(await replyTo(a, late)).toMatchObject({ kind: 'note', outcome: 'refused' });
    expect(await timesInThread('for the old thread too')).toBe(0);
  });

  async function leaveIn(threadId: string, text: string): Promise<string> {
    await sol.process.stop();
    const record = await openStore({
      stateDir: `${world.stateDir}/peer`,
      threadId,
      name: sol.name,
      instance: crypto.randomUUID(),
    });
    const msgId = crypto.randomUUID();
    const replyTo = { socketPath: a.socketPath, pid: a.pid, procStart: null, sessionId: a.sessionId };
    await record.receive({
      id: crypto.randomUUID(),
      msgId,
      text,
      priority: 'next',
      mark: null,
      inReplyTo: null,
      hopChain: [],
      sender: { kind: 'claude', name: 'alpha', replyTo },
      afterTurnId: null,
      receivedAtMs: Date.now(),
    });
    await record.close();
    return msgId;
  }
});
