import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { final, script } from './model-script.ts';
import type { Pane } from './pane.ts';
import { rowOf } from './peer-facts.ts';
import { runPeer } from './peer-process.ts';
import { poll } from './poll.ts';
import { send } from './processes.ts';
import type { ScriptPeer } from './script-peer.ts';
import { type Bench, openBench, openSender, replyTo } from './sol.ts';
import {
  installPeer,
  openShell,
  type PaneSol,
  PROMPT,
  paneSol,
  toldAbout,
  tuiOf,
  typeLine,
  untilGone,
} from './sol-pane.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';
import { Tmux } from './tmux.ts';

let world: World;
let bench: Bench;
let tmux: Tmux;
let a: ScriptPeer;
let shell: Pane;
/** Processes that were there before any peer. */
let others: ReadonlySet<number>;
let modesBefore: string;
let rounds = 0;

beforeAll(async () => {
  world = openWorld();
  installPeer(world);
  bench = await openBench(world);
  a = await openSender(bench, 'alpha');
  tmux = world.own(new Tmux(world));
  shell = await openShell(tmux);
  others = new Set(world.processes().map(({ pid }) => pid));
  modesBefore = await lineModes(shell);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

async function openIn(pane: Pane): Promise<PaneSol> {
  await pane.enter('peer open Sol', 50);
  return paneSol(world, pane, 'Sol');
}

async function message(text: string): Promise<string> {
  return (await a.send({ to: 'Sol', text })).msgId;
}

/** Ends Sol while one message runs and one waits: each is told about once, and nothing is left of Sol. */
async function isClosedBy(sol: PaneSol, end: () => unknown): Promise<void> {
  const key = `close ${++rounds}`;
  const running = await message(`running ${script([[{ hold: key }, final('too late')]])}`);
  await bench.model.held(key);
  const queued = await message('queued');
  await end();
  await untilGone(world, sol, others);
  bench.model.release(key);
  for (const id of [running, queued]) await replyTo(a, id);
  expect(toldAbout(a, running)).toEqual([expect.stringMatching(/^no-answer: .*closed while it worked/)]);
  expect(toldAbout(a, queued)).toEqual([expect.stringMatching(/^not-taken: .*safe to send again/)]);
}

async function lineModes(pane: Pane): Promise<string> {
  return execFileSync('stty', ['-a', '-F', await pane.format('#{pane_tty}')], { encoding: 'utf8' });
}

const SCREEN =
  '#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{scroll_region_upper}-#{scroll_region_lower}';

/** The shell has its terminal back as it was; what is typed there is seen, and run. */
async function shellIsAsBefore(): Promise<void> {
  await shell.waitFor(PROMPT);
  expect(await lineModes(shell)).toBe(modesBefore);
  expect(await shell.format(SCREEN)).toBe('0 1 0 0-23');
  await shell.enter(`echo "round $((${rounds} + 100))"`, 50);
  await shell.waitFor(
    new RegExp(`^[#$] echo "round \\$\\(\\(${rounds} \\+ 100\\)\\)"\\nround ${rounds + 100}$`, 'm'),
  );
}

test('/quit in the TUI closes the peer', async () => {
  const sol = await openIn(shell);
  await isClosedBy(sol, () => typeLine(shell, '/quit'));
  expect(await shell.capture()).toContain('Sol is closed: its pane was closed.');
  await shellIsAsBefore();
});

test('`peer close` from elsewhere closes it, and leaves its terminal to the shell', async () => {
  const sol = await openIn(shell);
  await isClosedBy(sol, async () => {
    const closed = await runPeer(['close', 'Sol'], { env: world.env });
    expect(closed).toEqual({ code: 0, stdout: 'Sol is closed\n', stderr: '' });
  });
  await shellIsAsBefore();
});

test.each(['SIGTERM', 'SIGHUP'] as const)('%s to the wrapper closes it', async (signal) => {
  const sol = await openIn(shell);
  await isClosedBy(sol, () => send(sol.pid, signal));
  await shellIsAsBefore();
});

test('a closed window closes it', async () => {
  const pane = await openShell(tmux);
  const sol = await openIn(pane);
  await isClosedBy(sol, () => pane.killWindow());
});

test.each(['', '--headless'])(
  'a closed window ends the peer by SIGHUP, not by an abort (%s)',
  async (flag) => {
    const status = join(world.home, `status${flag}`);
    // A handler, unlike an ignored signal, is not handed on: the shell outlives the window, the peer gets the signal.
    const script = `trap : HUP; peer open Hung; echo $? > ${status}`;
    const pane = await tmux.open({ command: ['/bin/sh', '-c', script] });
    await poll(() => rowOf(world, 'Hung')?.messagingSocketPath !== undefined, 15_000, 'Hung does not open');
    await pane.killWindow();
    await poll(
      () => existsSync(status) && readFileSync(status, 'utf8') !== '',
      10_000,
      'the peer does not end',
    );
    expect(readFileSync(status, 'utf8')).toBe('129\n');
    expect(rowOf(world, 'Hung')).toBeUndefined();
  },
);

test('a TUI that is killed comes back three times; then the peer goes on without it until Ctrl-C', async () => {
  const sol = await openIn(shell);
  const killed = new Set<number>();
  const nextTui = () => {
    const pid = tuiOf(world, sol);
    return pid !== null && !killed.has(pid) && pid;
  };
  for (let round = 0; round < 4; round++) {
    const tui = await poll(nextTui, 15_000, 'the TUI did not come back');
    send(tui, 'SIGKILL');
    killed.add(tui);
  }
  await shell.waitFor(/The peer goes on without its pane: it was killed \(SIGKILL[\s\S]*4 times in a row/);
  expect(await shell.capture()).toMatch(/Ctrl-C closes it\.\n*$/);
  expect(await replyTo(a, await message(`hello ${script([[final('here')]])}`))).toMatchObject({
    body: 'here',
  });
  await isClosedBy(sol, () => shell.keys('C-c'));
  expect(await shell.capture()).toContain('Sol is closed: Ctrl-C.');
  await shellIsAsBefore();
});

test('a thread that is archived in the TUI closes it, and is not brought back', async () => {
  const sol = await openIn(shell);
  await typeLine(shell, '/archive');
  await shell.waitFor(/Archive this session\?/);
  await shell.keys('Down', 'Enter');
  await untilGone(world, sol, others);
  expect(await shell.capture()).toContain('Sol is closed: its thread was archived in Codex.');
  await shellIsAsBefore();
  await shell.enter('clear; peer open Sol; echo "code $?"', 50);
  await shell.waitFor(/^peer: The thread of Sol is archived[\s\S]*^code 8$/m);
});
