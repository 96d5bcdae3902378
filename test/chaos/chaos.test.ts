import { expect, test } from 'vitest';
import { openWorld } from '../real/temp.ts';
import { check } from './checker.ts';
import type { Evidence } from './evidence.ts';
import { makeSchedule } from './schedule.ts';
import { Stage } from './stage.ts';
import { report } from './story.ts';

/** `PEER_SEED` replays one; `npm run chaos` goes on from it. */
const SEEDS = process.env.PEER_SEED === undefined ? [502, 509] : [Number(process.env.PEER_SEED)];
const MINUTES = Number(process.env.PEER_CHAOS_MINUTES ?? 0);
const PEERS = [{ name: 'Sol' }, { name: 'Luna' }];
const SENDERS = 4;

async function run(seed: number): Promise<Evidence> {
  await using world = openWorld();
  const stage = await Stage.open(world, PEERS, SENDERS);
  const size = { durationMs: 11_000, messages: 50, faults: 9 + (seed % 8) };
  await stage.perform(makeSchedule({ seed, ...size, peers: PEERS.length, senders: SENDERS }));
  await stage.settle();
  const evidence = await stage.evidence(seed);
  const breaches = check(evidence);
  if (breaches.length > 0) expect.fail(report(evidence, breaches));
  return evidence;
}

function summary({ seed, sent, faults, store, received }: Evidence): string {
  const states = [...new Set(store.outcomes.map(({ state }) => state))];
  const outcomes = states.map(
    (state) => `${store.outcomes.filter((row) => row.state === state).length} ${state}`,
  );
  const recorded = new Set(store.messages.map(({ msgId }) => msgId));
  const lost = sent.filter(({ isWritten, msgId }) => isWritten && !recorded.has(msgId)).length;
  const halfTold = received.filter(({ body }) => body.includes('may have reached you')).length;
  const recovered = received.filter(({ body }) => body.startsWith('recovered')).length;
  return [
    `seed ${seed}: ${faults.length} faults, ${sent.length} messages, ${store.messages.length} recorded`,
    `${lost} written to a peer that was killed, ${halfTold} half told, ${recovered} answered by a recovery turn`,
    outcomes.join(', '),
  ].join('; ');
}

if (MINUTES === 0) {
  test.each(SEEDS)(
    'whatever is killed, nothing is lost or doubled (seed %i)',
    async (seed) => {
      console.log(summary(await run(seed)));
    },
    150_000,
  );
} else {
  test(
    `whatever is killed for ${MINUTES} minutes, nothing is lost or doubled`,
    async () => {
      const endMs = Date.now() + MINUTES * 60_000;
      for (let seed = SEEDS[0]!; Date.now() < endMs; seed++) console.log(summary(await run(seed)));
    },
    (MINUTES + 5) * 60_000,
  );
}
