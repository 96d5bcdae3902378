import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordedPid } from './daemon-end.ts';
import { commentary, final, script } from './model-script.ts';
import type { Frame, Loose } from './raw-client.ts';
import { type Bench, openBench, openSender, openSol, repliesTo, replyTo, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

test('a killed server is replaced by a daemon: the running message gets one note, the queued one its answer', async () => {
  await using world = openWorld();
  const bench = await openBench(world, { packages: true });
  const sender = await openSender(bench, 'alpha');
  const { name, threadId } = await openSol(bench);
  const running = `one ${script([[commentary('half of it'), { hold: 'killed' }, final('never')]])}`;
  const first = (await sender.send({ to: name, text: running })).msgId;
  await bench.model.held('killed');
  const second = (await sender.send({ to: name, text: `two ${script([[final('A2')]])}` })).msgId;

  const killedAt = Date.now();
  await bench.server.kill();
  const told = await replyTo(sender, first);
  expect(told).toMatchObject({ kind: 'note', outcome: 'no-answer' });
  expect(told.body).toMatch(/^\[no answer to \w+: interrupted\].*\n\nPartial.*:\nhalf of it$/);
  expect(await replyTo(sender, second)).toMatchObject({ kind: 'answer', body: 'A2' });
  expect(recordedPid(world.codexHome, 'daemon.pid')).not.toBeNull();
  // The server's owner had three seconds to start it; of a daemon that we started, no recovery turn is waited for.
  const { 'daemon-start': startedAt = 0, outcome: settledAt = 0 } = firstTimes(world, name);
  expect(startedAt - killedAt).toBeGreaterThan(3_000);
  expect(settledAt - startedAt).toBeLessThan(4_500);
  expect([repliesTo(sender, first), repliesTo(sender, second)]).toEqual([1, 1]);
  await using other = await bench.server.client();
  expect(userItems(await other.turns(threadId))).toEqual(['one', 'two']);
});

describe('the server is killed while it takes messages and is back at once', () => {
  let world: World;
  let bench: Bench;
  let peers: readonly Sol[];

  beforeAll(async () => {
    world = openWorld();
    bench = await openBench(world);
    peers = await Promise.all([openSol(bench), openSol(bench), openSol(bench), openSol(bench)]);
  });
  afterAll(() => world[Symbol.asyncDispose]());
  beforeEach(() => printWhenFailed(world));

  const isActive: Matches = ({ method, params }) =>
    method === 'thread/status/changed' && params.status.type === 'active';
  const hasEnded: Matches = ({ method }) => method === 'turn/completed';

  test.each<[string, Matches]>([
    ['began', isActive],
    ['ended', hasEnded],
  ])('when the first turn %s: every message has one outcome', async (round, moment) => {
    const sender = await openSender(bench, `killer ${round}`);
    const watcher = await bench.server.client();
    for (const { threadId } of peers) await watcher.call('thread/resume', { threadId, excludeTurns: true });
    const reached = watcher.wait(moment, { from: watcher.mark });
    const text = (word: string) => `${word}-${round} ${script([[{ delayMs: 15 }, final(word)]])}`;
    const sent = peers.map(async ({ name }) => {
      const first = await sender.send({ to: name, text: text('first') });
      const second = await sender.send({ to: name, text: text('second') });
      return [first.msgId, second.msgId] as const;
    });
    await reached;
    await bench.server.kill();
    const ids = await Promise.all(sent);
    await bench.server.start();

    await using other = await bench.server.client();
    for (const [index, [first, second]] of ids.entries()) {
      const told = [await replyTo(sender, first, 20_000), await replyTo(sender, second, 20_000)];
      const items = userItems(await other.turns(peers[index]!.threadId));
      for (const [at, word] of ['first', 'second'].entries()) {
        const { outcome, body } = told[at]!;
        expect(['answered', 'no-answer', 'not-taken', 'unknown']).toContain(outcome);
        if (outcome === 'answered') expect(body).toBe(word);
        const taken = items.filter((item) => item === `${word}-${round}`);
        expect(taken).toHaveLength(outcome === 'answered' || outcome === 'no-answer' ? 1 : 0);
      }
    }
    await sleep(300);
    expect(ids.flat().map((id) => repliesTo(sender, id))).toEqual(ids.flat().map(() => 1));
  });
});

/** When each kind of line was first written to the peer's log, in milliseconds since 1970. */
function firstTimes({ stateDir }: World, name: string): { readonly [event: string]: number } {
  const log = readFileSync(join(stateDir, 'peer', 'logs', `${name}.log`), 'utf8');
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return Object.fromEntries(lines.reverse().map(({ event, at }) => [event, Date.parse(at)]));
}

type Matches = (frame: Frame) => boolean;

/** The first word of what each message of a peer said, oldest first. */
function userItems(turnsNewestFirst: Loose[]): (string | undefined)[] {
  const items = turnsNewestFirst.reverse().flatMap((turn) => turn.items);
  const messages = items.filter(({ type }) => type === 'userMessage');
  return messages.map(({ content }) => /\n\n(\S+)/.exec(content[0].text)?.[1]);
}
