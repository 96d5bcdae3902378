#!/usr/bin/env node
// @ts-check
import { parseArgs } from 'node:util';
import { fetchPrograms } from '../test/real/fetch.mjs';
import { build } from './build.mjs';
import { runSuites } from './suites.mjs';

/** Runs the chaos suite for `--minutes` from seed `--seed` on; each round prints its seed and its numbers. */
async function main() {
  const options = /** @type {const} */ ({
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  });
  const { minutes, seed } = parseArgs({ options }).values;
  process.env.PEER_CHAOS_MINUTES = minutes;
  process.env.PEER_SEED = seed;
  await build();
  process.env.PEER_TEST_BUILT = '1';
  fetchPrograms();
  return runSuites(['test/chaos/chaos.test.ts', '--project', 'real']);
}

process.exit(await main());
