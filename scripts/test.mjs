#!/usr/bin/env node
// @ts-check
import { spawnSync } from 'node:child_process';
import { fetchPrograms } from '../test/real/fetch.mjs';
import { build } from './build.mjs';
import { runSuites } from './suites.mjs';

const TMUX_MISSING =
  'tmux is missing, and the tests of the pane need it: install it (apt-get install tmux, brew install tmux).';

/** Optional for those who use it, not for those who test it. @type {readonly string[]} */
const NATIVE = ['node-pty', 'better-sqlite3'];

/**
 * Builds, fetches the real programs when they are missing, runs every suite, ends with the count.
 *
 * @param {string[]} args what vitest takes, and --long for the files that need real time
 */
async function main(args) {
  if (spawnSync('tmux', ['-V']).error) throw new Error(TMUX_MISSING);
  for (const name of NATIVE) {
    const isThere = await import(name).then(
      () => true,
      () => false,
    );
    if (!isThere) throw new Error(nativeMissing(name));
  }
  process.env.PEER_TEST_LONG = args.includes('--long') ? '1' : '0';
  await build();
  process.env.PEER_TEST_BUILT = '1';
  fetchPrograms();
  return runSuites(args.filter((arg) => arg !== '--long'));
}

/** @param {string} name */
function nativeMissing(name) {
  return `${name} is missing, and the tests need it: install python3, make and a C++ compiler, then run npm ci again.`;
}

const exitCode = await main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  return 1;
});
// A handle that a suite left open must not keep the run from ending.
process.exit(exitCode);
