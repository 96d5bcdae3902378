import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { ClaudeModel } from './claude-model.ts';
import { ClaudeTalk } from './claude-talk.ts';
import { final, script } from './model-script.ts';
import { peerLog } from './peer-log.ts';
import { poll } from './poll.ts';
import { openBench, openSol } from './sol.ts';
import { openWorld } from './temp.ts';

test('35 answers at once to a real Claude arrive whole, at the pace it takes them', async () => {
  const world = openWorld();
  const bench = await openBench(world);
  await openSol(bench, [], 'Sol');
  const talk = new ClaudeTalk(world, world.own(await ClaudeModel.start()));
  const alpha = await talk.start('alpha');
  const send = async (from: number, to: number) => {
    const calls = Array.from({ length: to - from }, (_, index) => {
      const message = `brief ${from + index} ${script([[{ hold: 'all' }, final(`answer ${from + index}.`)]])}`;
      return ['SendMessage', { to: 'Sol', message }];
    });
    alpha.say(`@@tools ${JSON.stringify(calls)} @@say sent`);
    await alpha.nextResult(30_000);
  };
  // Claude's own tool sends thirty at once, and one more every two seconds.
  await send(0, 30);
  await sleep(6 * LIMITS.refillMs);
  await send(30, 35);
  const received = () => peerLog(world, 'Sol').filter(({ event }) => event === 'received').length;
  await poll(
    () => received() === 35,
    10_000,
    () => `${received()} briefs came`,
  );

  bench.model.release('all');
  const begun = Date.now();
  const shown = () => {
    const newest = talk.model.requests.findLast(({ sessionId }) => sessionId === alpha.sessionId);
    const text = newest === undefined ? '' : talk.model.textsOf(newest).join('\n');
    return [...text.matchAll(/>\n(answer \d+\.)\n/g)].map(([, answer]) => answer);
  };
  await poll(
    () => shown().length === 35,
    90_000,
    () => `${shown().length} answers were shown`,
  );
  expect(new Set(shown()).size).toBe(35);
  expect(Date.now() - begun).toBeGreaterThan(4 * LIMITS.refillMs);
  const deliveries = peerLog(world, 'Sol').filter(({ event }) => event === 'reply');
  expect(deliveries.map(({ delivery }) => delivery)).toEqual(Array(35).fill('written'));
});
