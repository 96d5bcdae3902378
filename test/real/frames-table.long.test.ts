import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { readToken } from '../../src/registry/key.ts';
import { ClaudeModel } from './claude-model.ts';
import type { ClaudeSession } from './claude-session.ts';
import { ClaudeTalk, rowOf } from './claude-talk.ts';
import { final, script } from './model-script.ts';
import { poll } from './poll.ts';
import type { ReceivedFrame, ScriptPeer } from './script-peer.ts';
import { type Bench, openBench, openSender, openSol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

let world: World;
let bench: Bench;
let talk: ClaudeTalk;
let alpha: ClaudeSession;
let sockets: { readonly claude: string; readonly peer: string };

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  talk = new ClaudeTalk(world, world.own(await ClaudeModel.start()));
  await openSol(bench, [], 'Sol');
  alpha = await talk.start('alpha');
  sockets = { claude: alpha.socketPath, peer: rowOf(world, 'Sol').messagingSocketPath ?? '' };
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

function authLine(socketPath: string): string {
  const token = readToken(join(world.claudeDir, 'sessions'), socketPath);
  return `${JSON.stringify({ type: 'auth', token })}\n`;
}

/** How many of the texts each model was shown. */
function shown(...texts: readonly string[]) {
  const newest = talk.model.requests.findLast((request) => request.sessionId === alpha.sessionId);
  const atClaude = newest === undefined ? '' : talk.model.textsOf(newest).join('\n');
  const asked = bench.model.requests.map(({ text }) => text);
  return {
    claude: texts.reduce((sum, text) => sum + atClaude.split(`${text}\n`).length - 1, 0),
    peer: asked.filter((text) => texts.some((one) => text.includes(`\n${one}`))).length,
  };
}

function receipts(sender: ScriptPeer, reason: string): Set<unknown> {
  const about = sender.received.filter(({ frame }) => frame?.drop_reason === reason);
  return new Set(
    about.flatMap(({ frame }) => [frame?.orig_msg_id, ...((frame?.dropped_msg_ids as string[]) ?? [])]),
  );
}

test('a connection on which no line comes is ended after thirty seconds; a real one waits on after a line', async () => {
  const sender = await openSender(bench, 'waits');
  const ended = { answered: '', error: null };
  const stays = { answered: '', error: 'NOHANGUP' };
  const wait = async (socket: string, bytes: string, expected: object) => {
    const end = await sender.sendBytes({ socket, bytes, holdOpen: true, withinMs: 40_000 });
    expect(end).toMatchObject(expected);
    if (end.error !== null) return;
    expect(end.tookMs).toBeGreaterThan(LIMITS.lineTimeoutMs - 1_000);
    expect(end.tookMs).toBeLessThan(LIMITS.lineTimeoutMs + 3_000);
  };
  await Promise.all([
    ...Object.values(sockets).map((socket) => wait(socket, '', ended)),
    ...Object.values(sockets).map((socket) => wait(socket, '{"type":"user",', ended)),
    wait(sockets.claude, authLine(sockets.claude), stays),
    wait(sockets.peer, authLine(sockets.peer), ended),
  ]);
});

test('the same content again after 31 s is shown by both', async () => {
  const sender = await openSender(bench, 'repeats');
  const both = async () => {
    for (const socket of Object.values(sockets)) await sender.send({ socket, text: 'the same again' });
  };
  await both();
  await sleep(31_000);
  await both();
  await poll(() => shown('the same again').claude === 2, 10_000, 'it was not shown again');
  await poll(() => shown('the same again').peer === 2, 10_000, 'it was not shown again');
});

test('of a burst of 36 real Claude drops what is over its bucket; our peer takes all', async () => {
  const sender = await openSender(bench, 'bursts');
  const texts = Array.from({ length: 36 }, (_, index) => `burst ${index}.`);
  const begun = Date.now();
  for (const text of texts) {
    await Promise.all(Object.values(sockets).map((socket) => sender.send({ socket, text })));
  }
  const refilled = Math.floor((Date.now() - begun) / LIMITS.refillMs);
  await poll(
    () => shown(...texts).peer === 36,
    60_000,
    () => `our peer was shown ${shown(...texts).peer}`,
  );
  await poll(() => receipts(sender, 'rate-limited').size >= 36 - 31 - refilled, 15_000, 'no receipts');
  await sleep(6_000);
  const dropped = receipts(sender, 'rate-limited').size;
  expect(shown(...texts)).toEqual({ claude: 36 - dropped, peer: 36 });
  expect(dropped).toBeGreaterThanOrEqual(36 - 31 - refilled);
  expect(dropped).toBeLessThanOrEqual(6);
});

test('a busy Claude lets 50 messages wait and drops the rest; our peer lets them all wait', async () => {
  const senders: ScriptPeer[] = [];
  for (let index = 0; index < 3; index++) senders.push(await openSender(bench, `queues ${index}`));
  alpha.say('@@hold busy free again');
  await talk.model.waitForHeld('busy');
  const brief = `work ${script([[{ hold: 'busy' }, final('free again')]])}`;
  await senders[0]!.send({ socket: sockets.peer, text: brief });
  await bench.model.held('busy');

  const texts = Array.from({ length: 60 }, (_, index) => `waits ${index}.`);
  for (const [index, text] of texts.entries()) {
    const sender = senders[index % 3]!;
    await Promise.all(Object.values(sockets).map((socket) => sender.send({ socket, text })));
  }
  const full = () => senders.reduce((sum, sender) => sum + receipts(sender, 'queue-full').size, 0);
  await poll(
    () => full() === 10,
    15_000,
    () => `${full()} receipts say that the queue is full`,
  );
  talk.model.release('busy');
  bench.model.release('busy');
  await poll(
    () => shown(...texts).peer === 60,
    60_000,
    () => `our peer was shown ${shown(...texts).peer}`,
  );
  await poll(
    () => shown(...texts).claude === 50,
    15_000,
    () => `Claude was shown ${shown(...texts).claude}`,
  );
});

test('a real Claude that holds a message sends no idle notice before the end of its next turn', async () => {
  const sender = await openSender(bench, 'held');
  const silence = () => expect(sender.waitForFrame(isNotice, 1_500)).rejects.toThrow();
  const isNotice = ({ frame }: ReceivedFrame) => frame?.action === 'peer_idle_notice';
  await sender.send({ socket: sockets.claude, text: 'hold this', fromMode: 'bypass' });
  const holdId = await alpha.waitForHeld('held');
  await sender.control({ socket: sockets.claude, fields: { action: 'notify_when_idle' } });
  await silence();
  await alpha.decideHeld(holdId, 'drop');
  await silence();
  alpha.say('@@say go on');
  await sender.waitForFrame(isNotice);
});
