import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'peer-suites-'));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

/** Runs each text as a test file of its own; gives the run's last line and its exit code. */
function run(...texts: string[]) {
  for (const [index, text] of texts.entries()) writeFileSync(join(root, `${index}.test.js`), text);
  const strict = join(process.cwd(), 'scripts/vitest/strict-process.mjs');
  const args = [`--root=${root}`, '--globals', `--execArgv=--import=${strict}`];
  const script = `
    import { runSuites } from './scripts/suites.mjs';
    process.exit(await runSuites(${JSON.stringify(args)}));
  `;
  const { VITEST: _, ...env } = process.env;
  const ended = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env,
  });
  const last = ended.stdout.trimEnd().split('\n').at(-1);
  if (!last) throw new Error(ended.stderr);
  return { last, status: ended.status };
}

test('a good run ends with its count and 0; what was skipped is said', () => {
  expect(run("test('a', () => {}); test('b', () => {})", "test.skip('c', () => {})")).toEqual({
    last: '2 passed, 0 failed, 1 skipped',
    status: 0,
  });
});

test('whatever goes wrong, in a test or outside, is a failure of its own', () => {
  const { last, status } = run(
    "test('fails', () => { throw new Error('no') })",
    "throw new Error('the file does not load')",
    "afterAll(() => { throw new Error('a hook') }); test('passes', () => {})",
    "test('passes', async () => { Promise.reject(new Error('nobody')); await new Promise(setImmediate) })",
    "test('passes', async () => { process.emitWarning('leak'); await new Promise(setImmediate) })",
    '// no test at all',
  );
  expect({ last, status }).toEqual({ last: '3 passed, 6 failed', status: 1 });
});

test('a run without any test is no success', () => {
  expect(run()).toEqual({ last: '0 passed, 0 failed', status: 1 });
});
