import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { randomFrom, SEED } from '../random.ts';
import { ClaudeModel, type ModelRequest } from './claude-model.ts';
import { lastUserText } from './claude-request.ts';
import type { ClaudeSession } from './claude-session.ts';
import { answered, ClaudeTalk, rowOf, untilStatus } from './claude-talk.ts';
import { final, script } from './model-script.ts';
import type { ReceivedFrame, ScriptPeer, SendResult } from './script-peer.ts';
import { type Bench, openBench, openSender, openSol, repliesTo, replyTo, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

let world: World;
let bench: Bench;
let talk: ClaudeTalk;
let alpha: ClaudeSession;

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  talk = new ClaudeTalk(world, world.own(await ClaudeModel.start()));
  alpha = await talk.start('alpha');
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

/** What alpha's own tool says of subscribing, with a message or without one. */
async function subscribe(to: string, message?: string): Promise<string> {
  const input = { to, ...(message !== undefined && { message }), notify_when_idle: true };
  alpha.say(`@@tool SendMessage ${JSON.stringify(input)} @@say asked`);
  expect((await alpha.nextResult()).result).toBe('asked');
  return talk.model.toolResults(alpha.sessionId).at(-1)?.text ?? '';
}

/** The newest user text of alpha's next turns, until one of them holds `part`, and the end of that turn. */
async function shown(part: string, from: number): Promise<string> {
  const isIt = ({ sessionId, messages }: ModelRequest) =>
    sessionId === alpha.sessionId && lastUserText(messages).includes(part);
  const request = await talk.model.waitForRequest(isIt, 10_000, from);
  return lastUserText(request.messages);
}

const notices = () =>
  talk.model.requests.filter(({ messages }) =>
    lastUserText(messages).includes('[Cross-session idle notice]'),
  );

describe('a real Claude that wants to know when a peer is idle', () => {
  let sol: Sol;
  let other: ScriptPeer;
  beforeAll(async () => {
    sol = await openSol(bench, [], 'Sol');
    other = await openSender(bench, 'other');
  });

  test('and sends no message is told soon when it is idle already', async () => {
    const from = talk.model.requests.length;
    expect(await subscribe('Sol')).toContain('Subscribed');
    expect(await shown('idle notice', from)).toMatch(
      /^\[Cross-session idle notice\] "Sol", which you asked to be notified about, is idle now\. /,
    );
    await alpha.nextResult();
  });

  test('and sends a message is told after its answer, with the first words of it', async () => {
    const from = talk.model.requests.length;
    const told = await subscribe('Sol', `with a brief ${answered('with', 'all is well')}`);
    expect(told).toContain('Subscribed');
    bench.model.release('with');
    await shown('\nall is well\n', from);
    await alpha.nextResult();
    expect(await shown('idle notice', from)).toMatch(
      /is idle now — it finished a turn at .* Its harness reports: «all is well»/,
    );
    await alpha.nextResult();
  });

  test('is told when it is busy only at the end of that turn and of what was queued', async () => {
    const busy = await other.send({ to: 'Sol', text: `busy ${answered('busy', 'for another')}` });
    const queued = await other.send({ to: 'Sol', text: `queued ${script([[final('the last words')]])}` });
    await bench.model.held('busy');
    const from = talk.model.requests.length;
    await subscribe('Sol');
    await sleep(800);
    expect(notices()).toHaveLength(2);
    bench.model.release('busy');
    expect(await shown('idle notice', from)).toContain('«the last words»');
    for (const { msgId } of [busy, queued]) expect(repliesTo(other, msgId)).toBe(1);
    await alpha.nextResult();
  });

  test.each([
    ['without a message', false],
    ['with a message, after the note about it', true],
  ])('is told once that it has ended, %s', async (_, isBriefed) => {
    const closing = await openSol(bench);
    const from = talk.model.requests.length;
    const busy = await other.send({ to: closing.name, text: `${_} ${answered(_, 'never')}` });
    await bench.model.held(_);
    await subscribe(closing.name, isBriefed ? 'too late' : undefined);
    await closing.process.stop();
    if (isBriefed) {
      expect(await shown('[no answer to', from)).toContain('safe to send again');
      await alpha.nextResult();
    }
    expect(await shown('idle notice', from)).toContain(`"${closing.name}", which you asked`);
    expect(await shown('idle notice', from)).toContain('exited');
    await alpha.nextResult();
    expect((await replyTo(other, busy.msgId)).kind).toBe('note');
    await sleep(300);
    expect(notices().filter(({ index }) => index >= from)).toHaveLength(1);
  });

  test('hears nothing from a peer that is killed, and is told by its own tool that it is gone', async () => {
    const killed = await openSol(bench);
    const busy = `stuck ${answered('killed', 'never')}`;
    await other.send({ to: killed.name, text: busy });
    await bench.model.held('killed');
    expect(await subscribe(killed.name)).toContain('Subscribed');
    await killed.process.stop('SIGKILL');
    expect(await subscribe(killed.name)).toContain(`No agent named '${killed.name}' is reachable`);
    expect(sol.process.stderr).toBe('');
  });
});

describe(`a peer that gets SIGTERM at whatever moment (PEER_SEED=${SEED})`, () => {
  const random = randomFrom(SEED);
  const moments = Array.from({ length: 10 }, () =>
    [60, 60, 60, 90].map((limitMs) => Math.floor(random() * limitMs)),
  );
  let senders: readonly ScriptPeer[];
  beforeAll(async () => {
    senders = await Promise.all(['first', 'second', 'subscriber'].map((name) => openSender(bench, name)));
  });

  /** Resolves to true when the peer has ended the connection as one that it received. */
  async function received(afterMs: number, written: () => Promise<SendResult>): Promise<boolean> {
    await sleep(afterMs);
    return (await written()).error === null;
  }

  test.each(moments)(
    'messages at %d and %d ms, a subscription at %d ms, SIGTERM at %d ms',
    async (...afterMs) => {
      const [first, second, subscriber] = senders as [ScriptPeer, ScriptPeer, ScriptPeer];
      const peer = await openSol(bench);
      const socket = rowOf(world, peer.name).messagingSocketPath ?? '';
      const text = `work ${script([[{ hold: 'for ever' }]])}`;
      const [one, two, three] = [randomUUID(), randomUUID(), randomUUID()];
      const fields = { action: 'notify_when_idle', msg_id: three };
      const [isFirst, isSecond, isThird] = await Promise.all([
        received(afterMs[0]!, () => first.send({ socket, text, msgId: one })),
        received(afterMs[1]!, () => second.send({ socket, text, msgId: two })),
        received(afterMs[2]!, () => subscriber.control({ socket, fields })),
        sleep(afterMs[3]).then(() => peer.process.stop()),
      ]);
      // What the senders were told is on its way to this process.
      await sleep(50);
      const notices = subscriber.received.filter(({ frame }) => frame?.orig_msg_id === three);
      expect([repliesTo(first, one), repliesTo(second, two), notices.length]).toEqual(
        [isFirst, isSecond, isThird].map(Number),
      );
      // An idle peer would wait 400 ms before it says so.
      expect(notices.map(({ frame }) => frame?.state)).toEqual(isThird ? ['exited'] : []);
    },
  );
});

test.each([0, 500, 1_500])(
  'a peer whose server is gone for %d ms ends at once, and tells everybody',
  async (goneMs) => {
    await using world = openWorld();
    const bench = await openBench(world);
    const peer = await openSol(bench);
    const sender = await openSender(bench, 'sender');
    const busy = await sender.send({ to: peer.name, text: `busy ${script([[{ hold: 'for ever' }]])}` });
    await bench.model.held('for ever');
    await bench.server.kill();
    await untilStatus(world, peer.name, 'busy: Codex daemon');
    const queued = await sender.send({ to: peer.name, text: 'queued' });
    const { msgId } = await sender.control({ to: peer.name, fields: { action: 'notify_when_idle' } });
    await sleep(goneMs);
    const began = performance.now();
    await peer.process.stop();
    expect(performance.now() - began).toBeLessThan(2_000);
    const isNotice = ({ frame }: ReceivedFrame) => frame?.orig_msg_id === msgId;
    expect((await sender.waitForFrame(isNotice)).frame?.state).toBe('exited');
    expect(sender.received.filter(isNotice)).toHaveLength(1);
    for (const { msgId } of [busy, queued]) expect(repliesTo(sender, msgId)).toBe(1);
  },
);
