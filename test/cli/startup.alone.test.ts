import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { peerCommand } from '../real/peer-process.ts';
import { openWorld } from '../real/temp.ts';
import { wrappedPeer } from './wrapped-peer.ts';

const ROUNDS = 10;
/** A busy machine can spoil a measurement; it does not spoil five. */
const ATTEMPTS = 5;

test('`peer list` takes at most one and a half times as long as `node -e 0`', {
  timeout: 60_000,
}, async () => {
  await using world = openWorld();
  await wrappedPeer(world, 'Sol', { status: 'idle', cwd: '/srv/app', model: 'gpt-9' });
  const [node, ...script] = peerCommand as [string, ...string[]];
  const ratios: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS && !ratios.some((ratio) => ratio <= 1.5); attempt++) {
    const [bare, list] = interleaved([node, '-e', '0'], [node, ...script, 'list'], world.env);
    ratios.push(list / bare);
    console.log(`node -e 0: ${bare.toFixed(1)} ms, peer list: ${list.toFixed(1)} ms`);
  }
  expect(Math.min(...ratios)).toBeLessThanOrEqual(1.5);
});

/** Median durations in ms of two commands run in turns, so that both meet the same load. */
function interleaved(first: string[], second: string[], env: NodeJS.ProcessEnv): [number, number] {
  const durations: [number[], number[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, [file, ...args]] of [first, second].entries()) {
      const startedMs = performance.now();
      execFileSync(file!, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      // The first round fills the file cache.
      if (round > 0) durations[index]!.push(performance.now() - startedMs);
    }
  }
  return [median(durations[0]), median(durations[1])];
}

function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.floor(sorted.length / 2)]!) / 2;
}
