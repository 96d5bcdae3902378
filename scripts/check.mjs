#!/usr/bin/env node
// @ts-check
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @typedef {{ name: string, program: string, args: string[], repair?: string }} Step */

/** @type {Step[]} */
const STEPS = [
  {
    name: 'format and lint',
    program: 'biome',
    args: ['check', '--error-on-warnings', '.'],
    repair: 'npm run format',
  },
  { name: 'types', program: 'tsc', args: ['-p', '.', '--pretty'] },
  { name: 'unused code', program: 'knip', args: ['--no-progress', '--treat-config-hints-as-errors'] },
  { name: 'dependency direction', program: 'node', args: ['scripts/check-imports.mjs'] },
];

/**
 * Runs one step; what it prints is kept and shown only when it fails.
 * @param {Step} step
 */
async function run({ name, program, args, repair }) {
  const startedMs = performance.now();
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, PATH: `${root}/node_modules/.bin:${process.env.PATH}`, FORCE_COLOR: color() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  /** @type {Buffer[]} */
  const printed = [];
  child.stdout.on('data', (chunk) => printed.push(chunk));
  child.stderr.on('data', (chunk) => printed.push(chunk));
  /** @type {string | null} */
  const ended = await new Promise((settle) => {
    child.on('error', (error) => settle(error.message));
    child.on('close', (code, signal) => settle(code === 0 ? null : `exit ${code ?? signal}`));
  });
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  return { name, repair, ended, seconds, output: Buffer.concat(printed).toString().trim() };
}

function color() {
  return process.stdout.isTTY ? '1' : '0';
}

/** @param {Awaited<ReturnType<typeof run>>} result */
function report({ name, repair, ended, seconds, output }) {
  if (ended === null) return console.log(`ok      ${name} (${seconds} s)`);
  if (output) console.log(`\n${output}\n`);
  console.log(
    `FAILED  ${name} (${ended}, ${seconds} s)${repair ? ` — \`${repair}\` repairs what can be` : ''}`,
  );
}

const results = await Promise.all(STEPS.map(run));
for (const result of results) report(result);
process.exitCode = results.every((result) => result.ended === null) ? 0 : 1;
