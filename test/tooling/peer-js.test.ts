import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'peer-js-'));
  mkdirSync(join(root, 'bin'));
  for (const file of ['bin/peer.js', 'bin/package.json']) cpSync(file, join(root, file));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function plantMain(text: string) {
  mkdirSync(join(root, 'dist'));
  writeFileSync(join(root, 'dist/main.js'), text);
}

function run(...args: string[]) {
  return spawnSync(process.execPath, [...args, join(root, 'bin/peer.js'), 'version'], { encoding: 'utf8' });
}

/** Runs before bin/peer.js and gives Node another version. */
function claimVersion(version: string) {
  const text = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`;
  return `--import=data:text/javascript,${encodeURIComponent(text)}`;
}

test('files are private from the first line on', () => {
  plantMain('console.log(process.umask().toString(8), process.argv[2])');
  expect(run().stdout).toBe('77 version\n');
});

test('without a build it names the command that makes one', () => {
  const { status, stderr } = run();
  expect(stderr).toBe('peer is not built yet: its dist/ is missing. Run `npm run build` in its folder.\n');
  expect(status).toBe(1);
});

test('a plain list is loaded by itself, with a flag it does not know it goes the way of all commands', () => {
  plantMain("console.log('main')");
  writeFileSync(join(root, 'dist/list.cjs'), "console.log('list')");
  const list = (...flags: string[]) =>
    spawnSync(process.execPath, [join(root, 'bin/peer.js'), 'list', ...flags], { encoding: 'utf8' }).stdout;
  expect([list(), list('--json'), list('--help'), list('--json', '--all')]).toEqual([
    'list\n',
    'list\n',
    'main\n',
    'main\n',
  ]);
});

test('another module that is missing is not taken for a missing build', () => {
  plantMain("import './gone.js'");
  const { status, stderr } = run();
  expect(stderr).toMatch(/gone\.js/);
  expect(stderr).not.toMatch(/npm run build/);
  expect(status).toBe(1);
});

test.each(['20.18.3', '18.20.4', '8.17.0'])('Node %s gets a sentence', (version) => {
  plantMain("console.log('started')");
  const { status, stdout, stderr } = run(claimVersion(version));
  expect(stderr).toBe(`peer needs Node 20.19 or later; this is ${version} (${process.execPath}).\n`);
  expect(stdout).toBe('');
  expect(status).toBe(1);
});

test.each(['20.19.0', '22.1.0', '24.0.0'])('Node %s is new enough', (version) => {
  plantMain("console.log('started')");
  expect(run(claimVersion(version)).stdout).toBe('started\n');
});
