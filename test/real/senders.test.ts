import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callControl } from '../../src/control/client.ts';
import { findControlSocket } from '../../src/control/place.ts';
import { LIMITS } from '../../src/limits.ts';
import { commentary, final, script } from './model-script.ts';
import type { ReceivedFrame } from './script-peer.ts';
import { ScriptPeer } from './script-peer.ts';
import { type Bench, openBench, openSender, openSol, repliesTo, replyTo, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

let world: World;
let bench: Bench;
let sol: Sol;
let a: ScriptPeer;
let b: ScriptPeer;

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  sol = await openSol(bench, [], 'Sol');
  a = await openSender(bench, 'alpha');
  b = await openSender(bench, 'beta');
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

const receipt = (peer: ScriptPeer, msgId: string) =>
  peer.waitForFrame(({ frame }) => frame?.action === 'peer_message_status' && frame.orig_msg_id === msgId);

/** What the model was shown, whatever it was asked. */
const modelSaw = (text: string) => bench.model.requests.some((request) => request.text.includes(text));

/** One good message later, what was to be refused has been refused. */
async function afterOneMore(): Promise<void> {
  await replyTo(a, (await a.send({ to: 'Sol', text: 'one more' })).msgId);
}

describe('a message is taken only from whom it says it is from', () => {
  test.each(['wrong', 'none'] as const)(
    'not with a %s token; the sender gets one `refused` receipt',
    async (auth) => {
      const { msgId, error } = await a.send({ to: 'Sol', text: `token ${auth}`, auth });
      expect(error).toBeNull();
      expect((await receipt(a, msgId)).frame).toMatchObject({ status: 'refused' });
      await afterOneMore();
      expect(modelSaw(`token ${auth}`)).toBe(false);
      expect(repliesTo(a, msgId)).toBe(0);
    },
  );

  test('and what was turned away is counted, for our own processes to see', async () => {
    const socketPath = findControlSocket(sol.process.pid) ?? '';
    const call = { socketPath, method: 'status', params: {}, signal: AbortSignal.timeout(5_000) } as const;
    const status = () => callControl(call);
    const { refused } = await status();
    await a.send({ to: 'Sol', text: 'not me', auth: 'wrong' });
    await a.send({ to: 'Sol', text: 'nor me', from: b.address });
    await afterOneMore();
    expect((await status()).refused).toBe(refused + 2);
  });

  test("not with somebody else's address: the receipt goes to who connected, never to that address", async () => {
    const before = b.received.length;
    const { msgId } = await a.send({ to: 'Sol', text: 'in the name of beta', from: b.address });
    expect((await receipt(a, msgId)).frame).toMatchObject({ status: 'refused' });
    await afterOneMore();
    expect(b.received.length).toBe(before);
    expect(modelSaw('in the name of beta')).toBe(false);
  });

  test('not with an address on which nobody listens and that is not its own', async () => {
    const { msgId } = await a.send({ to: 'Sol', text: 'from nowhere', from: 'uds:/tmp/cc-socks/1.sock' });
    expect((await receipt(a, msgId)).frame).toMatchObject({ status: 'refused' });
    expect(modelSaw('from nowhere')).toBe(false);
  });

  test('without any address it is taken, and the model is told that no answer can be sent', async () => {
    const { msgId } = await a.send({ to: 'Sol', text: 'no address', from: null });
    const request = await bench.model.waitForRequest(/no address/);
    expect(request.text).toContain('Message from Claude session "alpha"');
    expect(request.text).toContain('nothing you write here can be sent back');
    await afterOneMore();
    expect(repliesTo(a, msgId)).toBe(0);
  });

  test('the name in the header is the one in the registry, not the one in the envelope', async () => {
    const { msgId } = await a.send({ to: 'Sol', text: 'who am I', fromName: 'the owner' });
    await replyTo(a, msgId);
    expect((await bench.model.waitForRequest(/who am I/)).text).toContain('Claude session "alpha"');
  });

  test('a process without a row is a script, and is answered', async () => {
    const script = world.own(await ScriptPeer.spawn({ env: world.env, name: 'ghost', publishRow: false }));
    const { msgId } = await script.send({ to: 'Sol', text: 'from a script' });
    expect((await replyTo(script, msgId)).kind).toBe('answer');
    expect((await bench.model.waitForRequest(/from a script/)).text).toMatch(/^Message from a script via/);
  });

  test('a sender that is gone when its line is read is verified by its row, and not answered', async () => {
    const gone = await ScriptPeer.spawn({ env: world.env, name: 'gone' });
    process.kill(sol.process.pid, 'SIGSTOP');
    void gone.send({ to: 'Sol', text: 'last words' }).catch(() => {});
    await sleep(150);
    await gone.kill();
    process.kill(sol.process.pid, 'SIGCONT');
    const request = await bench.model.waitForRequest(/last words/);
    expect(request.text).toContain('Claude session "gone"');
    expect(request.text).toContain('nothing you write here can be sent back');
  });
});

test('the same message id from the same sender is one message', async () => {
  const msgId = crypto.randomUUID();
  await a.send({ to: 'Sol', text: 'first copy', msgId });
  await a.send({ to: 'Sol', text: 'second copy', msgId });
  await replyTo(a, msgId);
  await afterOneMore();
  expect(repliesTo(a, msgId)).toBe(1);
  expect(modelSaw('second copy')).toBe(false);
});

test('a hop chain past the limit, and one with our own token ten times, is dropped with a receipt', async () => {
  const hop = (index: number) => index.toString(16).padStart(24, '0');
  const runaway = await a.send({
    to: 'Sol',
    text: 'far travelled',
    hopChain: Array.from({ length: LIMITS.hopEntries }, (_, index) => hop(index)),
  });
  expect((await receipt(a, runaway.msgId)).frame).toMatchObject({
    status: 'dropped',
    drop_reason: 'hop-runaway',
  });
  const { msgId } = await a.send({ to: 'Sol', text: 'begin', hopChain: [] });
  await replyTo(a, msgId);
  const answer = a.messages.find(({ frame }) => frame?.peerwire?.in_reply_to === msgId);
  const own = /hop-chain="[^"]*?([0-9a-f]{24})"/.exec(answer?.content ?? '')?.[1] ?? '';
  const loop = await a.send({ to: 'Sol', text: 'round and round', hopChain: Array(10).fill(own) });
  expect((await receipt(a, loop.msgId)).frame).toMatchObject({ status: 'dropped', drop_reason: 'hop-loop' });
  expect(modelSaw('round and round')).toBe(false);
});

test('a line over the cap is told to the process that connected, by the id in its head', async () => {
  const msgId = crypto.randomUUID();
  const content = 'x'.repeat(LIMITS.frameChars + 10);
  const frame = { msgV: 1, msg_id: msgId, type: 'user', message: { role: 'user', content } };
  await a.sendFrame({ to: 'Sol', frame });
  expect((await receipt(a, msgId)).frame).toMatchObject({ status: 'dropped', drop_reason: 'too-large' });
});

test('a rename is refused, and unknown control actions are ignored', async () => {
  await a.control({ to: 'Sol', fields: { action: 'rename', name: 'Luna' } });
  await a.control({ to: 'Sol', fields: { action: 'yield_artifact_replies' } });
  await afterOneMore();
});

describe('an idle notice', () => {
  const subscribe = (peer: ScriptPeer, to = 'Sol') =>
    peer.control({ to, fields: { action: 'notify_when_idle' } });
  const isNotice = (msgId: string) => (frame: ReceivedFrame) =>
    frame.frame?.action === 'peer_idle_notice' && frame.frame.orig_msg_id === msgId;

  test('comes soon when the peer is idle already, once', async () => {
    const { msgId } = await subscribe(a);
    expect((await a.waitForFrame(isNotice(msgId))).frame).toMatchObject({
      state: 'idle',
      from_mode: 'prompting',
    });
    await afterOneMore();
    await sleep(600);
    expect(a.received.filter(isNotice(msgId))).toHaveLength(1);
  });

  test('comes after the answers of the turn, with one line of the last one', async () => {
    const brief = await a.send({
      to: 'Sol',
      text: `work ${script([[commentary('hm'), { hold: 'idle' }, final('All\ndone')]])}`,
    });
    const queued = await b.send({ to: 'Sol', text: `more ${script([[final('Second "thing"')]])}` });
    const { msgId } = await subscribe(a);
    await sleep(700);
    expect(a.received.filter(isNotice(msgId))).toEqual([]);
    bench.model.release('idle');
    const notice = await a.waitForFrame(isNotice(msgId));
    expect([repliesTo(a, brief.msgId), repliesTo(b, queued.msgId)]).toEqual([1, 1]);
    expect(notice.frame).toMatchObject({
      state: 'idle',
      detail: 'Second thing',
      finished_at: expect.any(Number),
    });
  });

  test('is for the newest subscription of a sender', async () => {
    const work = await b.send({ to: 'Sol', text: `work ${script([[{ hold: 'newest' }, final('done')]])}` });
    const first = await subscribe(a);
    const second = await subscribe(a);
    bench.model.release('newest');
    await a.waitForFrame(isNotice(second.msgId));
    await replyTo(b, work.msgId);
    expect(a.received.filter(isNotice(first.msgId))).toEqual([]);
  });

  test('is not for a subscription in the name of somebody else', async () => {
    const { msgId } = await a.control({ to: 'Sol', fields: { action: 'notify_when_idle', from: b.address } });
    await afterOneMore();
    await sleep(600);
    expect([...a.received, ...b.received].filter(isNotice(msgId))).toEqual([]);
  });

  test('says `exited` when the peer is closed, after the notes of its messages', async () => {
    const other = await openSol(bench);
    const brief = await a.send({ to: other.name, text: `work ${script([[{ hold: 'never' }]])}` });
    const queued = await b.send({ to: other.name, text: 'waits' });
    const { msgId } = await subscribe(a, other.name);
    await bench.model.held('never');
    await other.process.stop();
    expect((await a.waitForFrame(isNotice(msgId))).frame).toMatchObject({ state: 'exited' });
    expect(await replyTo(a, brief.msgId)).toMatchObject({ kind: 'note', outcome: 'no-answer' });
    expect(await replyTo(b, queued.msgId)).toMatchObject({ kind: 'note', outcome: 'not-taken' });
    const order = a.received.filter(
      (frame) => isNotice(msgId)(frame) || frame.frame?.peerwire?.in_reply_to === brief.msgId,
    );
    expect(order.map(({ frame }) => frame?.type)).toEqual(['user', 'control']);
  });
});

describe('what a receiver says of an answer', () => {
  test('dropped for coming too fast: the same frame is sent again', async () => {
    const { msgId } = await a.send({ to: 'Sol', text: 'too fast' });
    await replyTo(a, msgId);
    const first = a.messages.find(({ frame }) => frame?.peerwire?.in_reply_to === msgId);
    const fields = { action: 'peer_message_status', status: 'dropped', drop_reason: 'rate-limited' };
    const before = a.received.length;
    await a.control({
      to: 'Sol',
      fields: { ...fields, orig_msg_id: first?.frame?.msg_id, dropped_msg_ids: [] },
    });
    const again = await a.waitForFrame(
      (frame) => frame.frame?.peerwire?.in_reply_to === msgId,
      10_000,
      before,
    );
    expect(again.raw).toBe(first?.raw);
  });

  test('the first `held` names the setting that changes it, on the terminal of the peer', async () => {
    const { msgId } = await a.send({ to: 'Sol', text: 'hold it' });
    await replyTo(a, msgId);
    const answer = a.messages.find(({ frame }) => frame?.peerwire?.in_reply_to === msgId);
    const held = { action: 'peer_message_status', status: 'held', orig_msg_id: answer?.frame?.msg_id };
    await a.control({ to: 'Sol', fields: held });
    await a.control({ to: 'Sol', fields: held });
    await afterOneMore();
    const said = sol.process.stderr.split('\n').filter((line) => line.includes('crossSessionInbound'));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('alpha');
  });
});
