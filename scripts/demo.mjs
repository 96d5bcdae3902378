#!/usr/bin/env node
// @ts-check
// Uses nothing from node_modules before it has put it there.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Brings a fresh clone to where `peer demo` runs on the pinned Codex, and runs it. */
async function main() {
  if (!isInstalled('esbuild')) {
    console.log('Installing what the build needs (npm ci) …');
    runNpm('ci', '--no-audit', '--no-fund', '--loglevel=error');
  }
  if (!(await canLoadPty())) {
    console.log(
      'node-pty is missing: npm leaves it out where it cannot be built (g++, make, python3, headers of Node).',
    );
    console.log('The demo needs none. `peer open` then wants a window of its own: peer open --window.');
  }
  const { build } = await import('./build.mjs');
  await build();
  const { fetchPrograms } = await import('../test/real/fetch.mjs');
  const codex = join(root, 'test/real/node_modules/.bin/codex');
  if (!existsSync(codex))
    console.log('Fetching the pinned Codex, and Claude Code for the tests (npm, once) …');
  fetchPrograms();
  return runDemo(codex);
}

/** @param {string} name */
function isInstalled(name) {
  return existsSync(join(root, 'node_modules', name));
}

function canLoadPty() {
  return import('node-pty').then(
    () => true,
    () => false,
  );
}

/** @param {string[]} args */
function runNpm(...args) {
  const { status } = spawnSync('npm', args, { cwd: root, stdio: 'inherit' });
  if (status !== 0)
    throw new Error(`npm ${args[0]} failed; the demo needs it once, with the npm registry in reach.`);
}

/** @param {string} codex */
function runDemo(codex) {
  const child = spawn(process.execPath, [join(root, 'bin/peer.js'), 'demo', '--codex', codex], {
    stdio: 'inherit',
  });
  // A terminal's Ctrl-C reaches the child by itself; this process stays to pass on how the demo ended.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((settle) => child.on('close', (code) => settle(code ?? 1)));
}

process.exitCode = await main().catch((error) => {
  console.error(error.message);
  return 1;
});
