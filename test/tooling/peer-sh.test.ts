import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let root: string;

/** A machine of its own under `root`: the script, `dirname` and `readlink`, and no Node anywhere. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'peer-sh-'));
  const text = readFileSync('scripts/peer.sh', 'utf8').replace(/ \/(usr|opt)\//g, ` ${root}/$1/`);
  write('peer/scripts/peer.sh', text);
  mkdirSync(join(root, 'tools'));
  for (const tool of ['dirname', 'readlink']) symlinkSync(`/usr/bin/${tool}`, join(root, 'tools', tool));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function write(file: string, text: string) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
  chmodSync(join(root, file), 0o755);
}

/** A stand-in that tells its version, and otherwise what it was asked to run. */
function plantNode(folder: string, version: string) {
  write(
    `${folder}/node`,
    `#!/bin/sh\n[ "$1" = --version ] && echo ${version} && exit\necho ${version}\nprintf '%s\\n' "$@"\n`,
  );
}

function run({
  script = 'peer/scripts/peer.sh',
  args = [] as string[],
  path = [] as string[],
  env = {},
} = {}) {
  const PATH = [...path.map((folder) => join(root, folder)), join(root, 'tools')].join(':');
  const ended = spawnSync(join(root, script), args, {
    encoding: 'utf8',
    env: { PATH, HOME: join(root, 'home'), ...env },
    cwd: tmpdir(),
  });
  return { status: ended.status, stderr: ended.stderr, lines: ended.stdout.trimEnd().split('\n') };
}

const PEER_JS = () => `${root}/peer/scripts/../bin/peer.js`;

test('it runs bin/peer.js with the Node on PATH and passes every argument on as it is', () => {
  plantNode('first', 'v20.19.0');
  const args = ['send', 'Sol', 'two words', '', '*', '$(id)', '-n'];
  expect(run({ args, path: ['first'] }).lines).toEqual(['v20.19.0', PEER_JS(), ...args]);
});

test('an old Node first on PATH does not hide a new one behind it', () => {
  plantNode('first', 'v18.20.4');
  plantNode('second', 'v24.1.0');
  expect(run({ path: ['first', 'second'] }).lines[0]).toBe('v24.1.0');
});

test('a Node on PATH that will do is used, though a newer one is installed elsewhere', () => {
  plantNode('first', 'v20.20.2');
  plantNode('home/.nvm/versions/node/v24.1.0/bin', 'v24.1.0');
  expect(run({ path: ['first'] }).lines[0]).toBe('v20.20.2');
});

test.each([
  'usr/local/bin',
  'opt/homebrew/bin',
  'home/.nvm/versions/node/v22.3.0/bin',
  'home/.volta/tools/image/node/22.3.0/bin',
  'home/.local/share/fnm/node-versions/v22.3.0/installation/bin',
  'home/Library/Application Support/fnm/node-versions/v22.3.0/installation/bin',
  'home/.asdf/installs/nodejs/22.3.0/bin',
  'home/.local/share/mise/installs/node/22.3.0/bin',
])('with none on PATH it finds one in %s', (folder) => {
  plantNode(folder, 'v22.3.0');
  expect(run().lines).toEqual(['v22.3.0', PEER_JS()]);
});

test('of several installed it takes the newest, compared as numbers', () => {
  plantNode('home/.nvm/versions/node/v9.11.2/bin', 'v9.11.2');
  plantNode('home/.nvm/versions/node/v22.9.0/bin', 'v22.9.0');
  plantNode('home/.nvm/versions/node/v22.12.0/bin', 'v22.12.0');
  expect(run().lines[0]).toBe('v22.12.0');
});

test('the folders that the version managers are told to use are respected', () => {
  plantNode('elsewhere/versions/node/v22.3.0/bin', 'v22.3.0');
  expect(run({ env: { NVM_DIR: join(root, 'elsewhere') } }).lines[0]).toBe('v22.3.0');
});

test('it works through a chain of symlinks, relative ones and folders with spaces included', () => {
  plantNode('first', 'v20.19.0');
  cpSync(join(root, 'peer'), join(root, 'my tools/peer'), { recursive: true });
  mkdirSync(join(root, 'bin'));
  symlinkSync('../my tools/peer/scripts/peer.sh', join(root, 'bin/inner'));
  symlinkSync(join(root, 'bin/inner'), join(root, 'bin/peer'));
  const { lines } = run({ script: 'bin/peer', path: ['first'] });
  expect(lines).toEqual(['v20.19.0', `${root}/my tools/peer/scripts/../bin/peer.js`]);
});

test('with only an old Node it says which one, and what is needed', () => {
  plantNode('first', 'v20.18.3');
  const { status, stderr } = run({ path: ['first'] });
  expect(stderr).toBe(`peer needs Node 20.19 or later; the newest found is v20.18.3 (${root}/first/node).\n`);
  expect(status).toBe(127);
});

test('with no Node at all it says where it looked', () => {
  const { status, stderr } = run();
  expect(stderr).toMatch(/^peer needs Node 20\.19 or later; none was found on PATH or where nvm, .*\n$/);
  expect(status).toBe(127);
});

test('a program called node that is none, or does not run, is passed over', () => {
  write('first/node', '#!/bin/sh\necho hello\n');
  write('second/node', '#!/no/such/interpreter\n');
  mkdirSync(join(root, 'third/node'), { recursive: true });
  plantNode('fourth', 'v21.0.0');
  expect(run({ path: ['first', 'second', 'third', 'fourth'] }).lines[0]).toBe('v21.0.0');
});
