import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { build } from '../../scripts/build.mjs';

const MINUTE = 60_000;

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'peer-build-'));
  plant('package.json', JSON.stringify({ type: 'module', optionalDependencies: { pty: '1' } }));
  plantPackage('inside', 'export const inside = 1;');
  plantPackage('pty', 'export const outside = 2;');
  plant(
    'src/cli/list.ts',
    "import { inside } from 'inside'; export const list = () => import('pty').then(console.log, inside);",
  );
  plant('src/cli/list-main.ts', "import { inside } from 'inside'; console.log(inside);");
  plant('src/cli/main.ts', "const { list } = await import('./list.ts'); await list();");
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function plant(file: string, text: string) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

function plantPackage(name: string, text: string) {
  plant(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.2.3', main: 'index.js' }));
  plant(`node_modules/${name}/index.js`, text);
  plant(`node_modules/${name}/LICENSE`, `licence of ${name}`);
}

function dist(file: string) {
  return join(root, 'dist', file);
}

function makeOlder(file: string, ageMs: number) {
  const time = (Date.now() - ageMs) / 1000;
  utimesSync(dist(file), time, time);
}

test('a command is a file of its own, loaded when it runs', async () => {
  const files = await build({ root });
  expect(files).toContainEqual(expect.stringMatching(/^list-\w+\.js$/));
  expect(readFileSync(dist('main.js'), 'utf8')).not.toContain('pty');
});

test('the list that runs by itself is one file without an import', async () => {
  expect(await build({ root })).toContain('list.cjs');
  expect(readFileSync(dist('list.cjs'), 'utf8')).not.toMatch(/\b(import|require)\b/);
});

test('what is installed beside us stays outside; what is not goes in with its licence', async () => {
  const files = await build({ root });
  const list = readFileSync(dist(files.find((file) => file.startsWith('list-'))!), 'utf8');
  expect(list).toContain('import("pty")');
  expect(list).not.toMatch(/from ["']inside["']/);
  expect(readFileSync(dist('third-party-licences.txt'), 'utf8')).toBe('inside 1.2.3\n\nlicence of inside\n');
});

test('a package without a licence is not bundled silently', async () => {
  rmSync(join(root, 'node_modules/inside/LICENSE'));
  await expect(build({ root })).rejects.toThrow('inside is bundled but has no licence file');
});

test('sources that do not bundle leave the last build as it is', async () => {
  await build({ root });
  const before = readdirSync(dist('.'));
  plant('src/cli/main.ts', "import './gone.ts';");
  await expect(build({ root })).rejects.toThrow('gone.ts');
  expect(readdirSync(dist('.'))).toEqual(before);
});

test('a build of the same sources touches no file', async () => {
  await build({ root });
  makeOlder('main.js', MINUTE);
  await build({ root });
  expect(Date.now() - statSync(dist('main.js')).mtimeMs).toBeGreaterThan(MINUTE - 1_000);
});

test('what a peer may still load from an earlier build stays for ten minutes, then goes', async () => {
  plant('dist/list-YOUNG.js', '');
  plant('dist/list-OLD.js', '');
  makeOlder('list-YOUNG.js', 9 * MINUTE);
  makeOlder('list-OLD.js', 11 * MINUTE);
  await build({ root });
  expect(existsSync(dist('list-YOUNG.js'))).toBe(true);
  expect(existsSync(dist('list-OLD.js'))).toBe(false);
});

test('a clean build, for packing, holds nothing else', async () => {
  plant('dist/list-YOUNG.js', '');
  const files = await build({ root, clean: true });
  expect(readdirSync(dist('.')).sort()).toEqual(files.sort());
});
