import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { processState } from '../../src/os/proc.ts';
import { final, script } from './model-script.ts';
import type { Pane } from './pane.ts';
import { runPeer } from './peer-process.ts';
import type { ScriptPeer } from './script-peer.ts';
import { type Bench, openBench, openSender, replyTo } from './sol.ts';
import { installPeer, openShell, paneSol, tuiOf, untilGone } from './sol-pane.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';
import { Tmux } from './tmux.ts';

let world: World;
let bench: Bench;
let tmux: Tmux;
let a: ScriptPeer;
let shell: Pane;
/** What the wrappers write. */
let logs: string;

beforeAll(async () => {
  world = openWorld();
  installPeer(world);
  bench = await openBench(world);
  a = await openSender(bench, 'alpha');
  tmux = world.own(new Tmux(world));
  shell = await openShell(tmux);
  logs = join(world.stateDir, 'peer', 'logs');
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

const pids = () => new Set(world.processes().map(({ pid }) => pid));

async function isAnswered(name: string): Promise<void> {
  const { msgId } = await a.send({ to: name, text: `hello ${script([[final('here')]])}` });
  expect(await replyTo(a, msgId)).toMatchObject({ kind: 'answer', body: 'here' });
}

async function close(name: string): Promise<void> {
  const closed = await runPeer(['close', name], { env: world.env });
  expect(closed).toEqual({ code: 0, stdout: `${name} is closed\n`, stderr: '' });
}

/** The window of that name: its pane, when it has one. */
async function windowOf(name: string): Promise<Pane | undefined> {
  for (const pane of await tmux.panes()) {
    if ((await pane.format('#{window_name}')) === name) return pane;
  }
  return undefined;
}

/** A package that was installed where node-pty could not be built. */
function packageWithoutNodePty(): string {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const bare = join(world.root, 'bare');
  for (const part of ['bin', 'dist', 'package.json']) {
    cpSync(join(root, part), join(bare, part), { recursive: true });
  }
  mkdirSync(join(bare, 'node_modules'));
  symlinkSync(join(root, 'node_modules', 'koffi'), join(bare, 'node_modules', 'koffi'));
  return join(bare, 'bin', 'peer.js');
}

test('--window runs the peer in a window of its name, which `peer close` kills and nothing else', async () => {
  const before = pids();
  await shell.enter('peer open "Luna 1.2" --window', 50);
  await shell.waitFor(/^Luna 1\.2 opens in tmux window \S+:@\d+$/m);
  const window = (await windowOf('Luna 1.2'))!;
  const luna = await paneSol(world, window, 'Luna 1.2');
  expect(await window.pid()).toBe(luna.pid);
  await isAnswered('Luna 1.2');
  const others = (await tmux.panes()).map(({ id }) => id).filter((id) => id !== window.id);
  await close('Luna 1.2');
  await untilGone(world, luna, before);
  expect((await tmux.panes()).map(({ id }) => id)).toEqual(others);
  expect(readFileSync(join(logs, 'Luna 1.2.log'), 'utf8')).toMatch(/"close","cause":"its window was closed"/);
});

test('a window that the person has split stays when its peer is closed', async () => {
  const before = pids();
  await shell.enter('peer open Luna --window', 50);
  await expect.poll(() => windowOf('Luna')).toBeDefined();
  const window = (await windowOf('Luna'))!;
  const luna = await paneSol(world, window, 'Luna');
  const own = await tmux.run(
    'split-window',
    '-d',
    '-P',
    '-F',
    '#{pane_id} #{pane_pid}',
    '-t',
    window.id,
    '--',
    'sleep',
    '600',
  );
  const [id, pid] = own.split(' ');
  await close('Luna');
  await untilGone(world, luna, new Set([...before, Number(pid)]));
  // tmux 3.3a sometimes misses the end of a pane's command and then keeps the dead pane beside this one.
  expect((await tmux.run('list-panes', '-t', id!, '-F', '#{pane_id}')).split('\n')).toContain(id);
  expect(processState(Number(pid))).toBe('S');
  await tmux.run('kill-window', '-t', id!);
});

test('a name that tmux or a shell would read makes no window', async () => {
  const before = (await tmux.panes()).length;
  await shell.enter(`peer open '#(touch x)' --window; echo "code $?"`, 50);
  await shell.waitFor(/^peer: .*name[\s\S]*^code 2$/m);
  expect((await tmux.panes()).length).toBe(before);
  expect(existsSync(join(world.work, 'x'))).toBe(false);
});

test('without node-pty the TUI inherits the terminal of a window, and under a shell the peer is not opened', async () => {
  const before = pids();
  const bare = packageWithoutNodePty();
  const pane = await tmux.open({ command: [process.execPath, bare, 'open', 'Mars'], cols: 100, rows: 30 });
  const mars = await paneSol(world, pane, 'Mars');
  expect(readFileSync(join(logs, 'Mars.log'), 'utf8')).toMatch(/"pane-opened".*"onPty":false/);
  await pane.keys('C-z');
  await isAnswered('Mars');
  expect([mars.pid, tuiOf(world, mars)!].map(processState).join('')).toMatch(/^[SRD]{2}$/);
  await pane.waitFor(/^› Ask Codex/m);
  await close('Mars');
  expect(await pane.exitStatus()).toBe(0);
  await untilGone(world, mars, before);

  await shell.enter(`clear; ${process.execPath} ${bare} open Merkur; echo "code $?"`, 50);
  const screen = await shell.waitFor(/^code 8$/m);
  expect(screen.replace(/\n/g, ' ')).toMatch(/No pane here: node-pty .*Ctrl-Z.*--window or --headless/);
  expect(existsSync(join(logs, 'Merkur.log'))).toBe(false);
});

test('without a terminal nothing is published, no Codex is asked, and the error says what to do', async () => {
  await using fresh = openWorld();
  const { code, stdout, stderr } = await runPeer(['open', 'Sol'], { env: fresh.env, cwd: fresh.work });
  expect({ code, stdout }).toEqual({ code: 8, stdout: '' });
  expect(stderr).toMatch(/^peer: A pane needs a terminal, .*--headless, or in a terminal\.\n$/);
  expect(existsSync(join(fresh.claudeDir, 'sessions'))).toBe(false);
  expect(existsSync(join(fresh.codexHome, 'app-server-control'))).toBe(false);
});

/** A repository that nobody has said to trust. */
function repository(name: string): string {
  const folder = join(world.root, name);
  execFileSync('git', ['init', '-q', folder], { env: world.env });
  return folder;
}

const codexConfig = () => readFileSync(join(world.codexHome, 'config.toml'), 'utf8');

test('a repository is trusted by the person at the TUI, not by a wider sandbox; messages are answered meanwhile', async () => {
  const before = pids();
  const folder = repository('asked');
  const options = ['--cwd', folder, '--sandbox', 'workspace-write'];
  const pane = await tmux.open({ command: ['peer', 'open', 'Venus', ...options], cols: 100, rows: 30 });
  await pane.waitFor(/Trust this folder\?/);
  await isAnswered('Venus');
  expect(codexConfig()).not.toContain(folder);
  await pane.keys('Enter');
  const venus = await paneSol(world, pane, 'Venus');
  expect(codexConfig()).toContain(`[projects."${folder}"]\ntrust_level = "trusted"\n`);
  await using client = await bench.server.client();
  const { sandbox } = await client.call('thread/resume', { threadId: venus.threadId, excludeTurns: true });
  expect(sandbox.type).toBe('workspaceWrite');
  await close('Venus');
  await untilGone(world, venus, before);
});

test('--trust writes down that the folder of the thread is trusted, whatever its name', async () => {
  const before = pids();
  const folder = repository('a "b" c.d\\e');
  const command = ['peer', 'open', 'Pluto', '--cwd', folder, '--trust'];
  const pane = await tmux.open({ command, cols: 100, rows: 30 });
  const pluto = await paneSol(world, pane, 'Pluto');
  expect(codexConfig()).toContain(`[projects.'${folder}']\ntrust_level = "trusted"\n`);
  await close('Pluto');
  await untilGone(world, pluto, before);
});
