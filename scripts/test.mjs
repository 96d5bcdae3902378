#!/usr/bin/env node
// @ts-check
import { spawnSync } from 'node:child_process';
import { parseCLI, startVitest } from 'vitest/node';
import { fetchPrograms } from '../test/real/fetch.mjs';
import { build } from './build.mjs';
import { count } from './count.mjs';

/**
 * Builds, fetches the real programs when they are missing, runs every suite, ends with the count.
 * @param {string[]} args what vitest takes (file filters, -t, --project), and --long
 */
async function main(args) {
  if (spawnSync('tmux', ['-V']).error) {
    stop(
      'tmux is missing, and the tests of the pane need it: install it (apt-get install tmux, brew install tmux).',
    );
  }
  process.env.PEER_TEST_LONG = args.includes('--long') ? '1' : '0';
  await build();
  process.env.PEER_TEST_BUILT = '1';
  fetchPrograms();

  const { filter, options } = parseCLI(['vitest', ...args.filter((arg) => arg !== '--long')]);
  const vitest = await startVitest('test', filter, { ...options, watch: false });
  const modules = vitest.state.getTestModules();
  const errors = vitest.state.getUnhandledErrors();
  await vitest.close();
  const { passed, failed, skipped } = count(modules, errors);
  console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
  process.exit(failed > 0 || (passed === 0 && !options.passWithNoTests) ? 1 : (process.exitCode ?? 0));
}

/** @param {string} sentence */
function stop(sentence) {
  console.error(sentence);
  process.exit(1);
}

await main(process.argv.slice(2)).catch((error) => stop(error.message));
