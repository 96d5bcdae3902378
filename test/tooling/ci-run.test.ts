import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let root: string;

/** A machine where `apt-get` and `npm` only write down how they were called. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'peer-ci-'));
  mkdirSync(join(root, 'bin'));
  for (const tool of ['bash', 'env', 'dirname']) symlinkSync(`/usr/bin/${tool}`, join(root, 'bin', tool));
  plant('apt-get', `echo "apt-get $* ($DEBIAN_FRONTEND)" >> "${root}/calls"`);
  plant('npm', `echo "npm $*" >> "${root}/calls"; [ "$1" != test ] || { cat; exit 3; }`);
  plant('cat', '/usr/bin/cat');
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function plant(program: string, text: string) {
  const file = join(root, 'bin', program);
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
}

function run() {
  const ended = spawnSync('bash', ['.ci/run'], {
    env: { PATH: join(root, 'bin') },
    encoding: 'utf8',
    input: 'typed',
  });
  const calls = readFileSync(join(root, 'calls'), 'utf8').trimEnd().split('\n');
  return { calls, status: ended.status, stdout: ended.stdout };
}

test.runIf(process.getuid?.() === 0)(
  'only what is absent is installed, after one update, without a question',
  () => {
    plant('tmux', '');
    plant('python3', '');
    expect(run().calls).toEqual([
      'apt-get -qq update (noninteractive)',
      'apt-get -qq install --yes --no-install-recommends g++ make (noninteractive)',
      'npm ci --no-audit --no-fund',
      'npm test',
    ]);
  },
);

test('with everything there it installs nothing, reads no input, and ends as npm test ends', () => {
  for (const program of ['tmux', 'g++', 'make', 'python3']) plant(program, '');
  expect(run()).toEqual({ calls: ['npm ci --no-audit --no-fund', 'npm test'], status: 3, stdout: '' });
});

test('a failed installation ends the run before any test', () => {
  for (const program of ['tmux', 'g++', 'make', 'python3']) plant(program, '');
  plant('npm', `echo "npm $*" >> "${root}/calls"; exit 7`);
  expect(run()).toEqual({ calls: ['npm ci --no-audit --no-fund'], status: 7, stdout: '' });
});
