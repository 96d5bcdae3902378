import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { final, script } from './model-script.ts';
import { rowOf } from './peer-facts.ts';
import { poll } from './poll.ts';
import type { ScriptPeer } from './script-peer.ts';
import { type Bench, openBench, openSender, openSol, repliesTo, replyTo } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

let world: World;
let bench: Bench;
let sender: ScriptPeer;

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  sender = await openSender(bench, 'alpha');
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

test('two wrapped peers do not talk for ever: the answer of one is shown to the other, and answered by nobody', async () => {
  const [sol, luna] = await Promise.all([openSol(bench), openSol(bench)]);
  const asked = `what is it? ${script([[final('it is a plum')]])}`;
  const { msgId } = await sender.send({ to: luna.name, text: asked });
  const { frame, raw } = await sender.waitForMessage('it is a plum');
  const before = bench.model.requests.length;

  // What Luna wrote is passed on to Sol by a peer that is no wrapper, as its own.
  const passedOn = JSON.parse(raw.replaceAll(frame?.from ?? '', sender.address));
  await sender.sendFrame({ to: sol.name, frame: passedOn });
  const { text } = await bench.model.waitForRequest(/^Answer from/);
  expect(text).toMatch(`to your message ${msgId.slice(0, 8)} `);
  expect(text).toContain('nothing you write here is sent back');
  expect(text).toMatch(/\n\nit is a plum\n\n\(answer to \w+\)$/);
  await poll(() => rowOf(world, sol.name)?.status === 'idle', 5_000, 'Sol does not come to rest');
  // An answer of Sol's would come before this one.
  const last = await sender.send({ to: sol.name, text: 'one more' });
  await replyTo(sender, last.msgId);
  expect(sender.messages).toHaveLength(2);
  expect(bench.model.requests.slice(before)).toHaveLength(2);
});

test.each(['answer', 'note'])(
  'a marked %s of a script is shown to the peer, and nothing goes back',
  async (kind) => {
    const sol = await openSol(bench);
    const mark = { kind, in_reply_to: '12345678-1234', outcome: 'answered' };
    const { msgId } = await sender.send({ to: sol.name, text: `a marked ${kind}`, mark });
    const { text } = await bench.model.waitForRequest(new RegExp(`a marked ${kind}`));
    expect(text).toMatch(/^(Answer|Note) from Claude session "alpha" .* to your message 12345678 /);
    const next = await sender.send({ to: sol.name, text: 'one more' });
    await replyTo(sender, next.msgId);
    expect(repliesTo(sender, msgId)).toBe(0);
  },
);

test('an approval that nobody is there to give is declined after two seconds, and the turn goes on', async () => {
  const sol = await openSol(bench, ['--approval', 'on-request']);
  const args = { cmd: 'touch out', sandbox_permissions: 'require_escalated', justification: 'to write it' };
  const text = `write it ${script([[{ call: 'exec_command', args }], [final('went on without it')]])}`;
  const sentAt = performance.now();
  const { msgId } = await sender.send({ to: sol.name, text });
  await poll(() => rowOf(world, sol.name)?.status === 'waiting', 5_000, 'the row does not wait');
  expect(rowOf(world, sol.name)?.waitingFor).toBe('permission prompt');
  expect(await replyTo(sender, msgId)).toMatchObject({ kind: 'answer', body: 'went on without it' });
  const tookMs = performance.now() - sentAt;
  expect(tookMs).toBeGreaterThan(2_000);
  expect(tookMs).toBeLessThan(4_000);
  const declined = bench.model.requests.findLast((request) => request.text.startsWith('Message'));
  expect(JSON.stringify(declined?.input.at(-1))).toMatch(/rejected by user/i);
});
