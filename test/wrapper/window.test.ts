import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closeWindow, openWindow } from '../../src/wrapper/window.ts';
import { poll } from '../real/poll.ts';
import type { World } from '../real/temp.ts';
import { openWorld } from '../real/temp.ts';
import { Tmux } from '../real/tmux.ts';

/** A tmux server with one pane, and the environment of a shell in it. */
async function insideTmux(world: World): Promise<{ tmux: Tmux; env: NodeJS.ProcessEnv }> {
  const tmux = world.own(new Tmux(world));
  const pane = await tmux.open();
  const TMUX = await pane.format('#{socket_path},#{pid},0');
  return { tmux, env: { ...world.env, TMUX, TMUX_PANE: pane.id } };
}

function windowIds(tmux: Tmux): Promise<string> {
  return tmux.run('list-windows', '-a', '-F', '#{window_id}');
}

/** What a row says about a peer that is the command of this window. */
async function rowOf(tmux: Tmux, place: { socket: string; session: string; window: string; pane: string }) {
  const pid = Number(await tmux.run('display-message', '-p', '-t', place.pane, '#{pane_pid}'));
  return { pid, tmux: `${place.session}:${place.window}.${place.pane}`, tmuxSocket: place.socket };
}

test('a window runs exactly the given arguments, in the given folder, and executes nothing of its name', async () => {
  await using world = openWorld();
  const { tmux, env } = await insideTmux(world);
  const cwd = join(world.root, '#(touch x) #{pid};');
  mkdirSync(cwd);
  const strange = ['a b', '$HOME', '#(touch y)', '"', "'", 'c;', ';', ''];
  const argv = [
    '/bin/sh',
    '-c',
    'pwd >seen; printf "%s\\n" "$@" >>seen; exec sleep 60',
    'sh',
    ...strange,
  ] as const;
  const place = await openWindow({ name: 'Sol #(touch z) #{pid}', argv: [...argv], cwd, env });
  const seen = join(cwd, 'seen');
  await poll(() => existsSync(seen) && readFileSync(seen, 'utf8').endsWith(';\n\n'), 5_000, 'nothing ran');
  expect(readFileSync(seen, 'utf8')).toBe(`${[cwd, ...strange].join('\n')}\n`);
  expect(await tmux.run('display-message', '-p', '-t', place.window, '#{window_name}')).toBe(
    'Sol #(touch z) #{pid}',
  );
  expect(['x', 'y', 'z'].filter((file) => existsSync(join(cwd, file)))).toEqual([]);
});

test('a window has our variables and not the older ones of the tmux server', async () => {
  await using world = openWorld();
  const { env } = await insideTmux(world);
  const ours = { ...env, CODEX_HOME: '/ours', PATH: `/ours:${env.PATH}`, CLAUDE_CONFIG_DIR: undefined };
  const argv: [string, ...string[]] = ['/bin/sh', '-c', 'env >seen.new; mv seen.new seen; exec sleep 60'];
  await openWindow({ name: 'Sol', argv, cwd: world.work, env: ours });
  const seen = join(world.work, 'seen');
  await poll(() => existsSync(seen), 5_000, 'nothing ran');
  const lines = readFileSync(seen, 'utf8').split('\n');
  expect(lines).toEqual(
    expect.arrayContaining(['CODEX_HOME=/ours', `PATH=/ours:${env.PATH}`, `HOME=${world.home}`]),
  );
  expect(lines.filter((line) => line.startsWith('CLAUDE_CONFIG_DIR='))).toEqual([]);
});

test('outside tmux the error says so and what to do', async () => {
  await using world = openWorld();
  const opening = openWindow({ name: 'Sol', argv: ['/bin/true'], cwd: world.work, env: world.env });
  await expect(opening).rejects.toMatchObject({
    word: 'pane-unavailable',
    message: expect.stringMatching(/not inside tmux\..*without --window/),
  });
});

test('a command that fails leaves its last words in the window', async () => {
  await using world = openWorld();
  const { tmux, env } = await insideTmux(world);
  const argv: [string, ...string[]] = ['/bin/sh', '-c', 'sleep 0.3; echo the name is taken; exit 10'];
  const { pane } = await openWindow({ name: 'Sol', argv, cwd: world.work, env });
  const isDead = () => tmux.run('display-message', '-p', '-t', pane, '#{pane_dead}');
  await expect.poll(isDead, { timeout: 5_000 }).toBe('1');
  expect(await tmux.run('capture-pane', '-p', '-t', pane)).toContain('the name is taken');
});

test('a window that --window made is killed while the peer is all that is in it', async () => {
  await using world = openWorld();
  const { tmux, env } = await insideTmux(world);
  const place = await openWindow({ name: 'Sol', argv: ['/bin/sleep', '60'], cwd: world.work, env });
  const row = await rowOf(tmux, place);
  expect(await closeWindow({ ...row, pid: row.pid + 1 })).toBe(false);
  expect(await windowIds(tmux)).toContain(place.window);
  expect(await closeWindow(row)).toBe(true);
  expect(await windowIds(tmux)).not.toContain(place.window);
  expect(await closeWindow(row)).toBe(false);
});

test('a window with a pane of the person, or made by the person, is never killed', async () => {
  await using world = openWorld();
  const { tmux, env } = await insideTmux(world);
  const split = await openWindow({ name: 'Sol', argv: ['/bin/sleep', '60'], cwd: world.work, env });
  await tmux.run('split-window', '-d', '-t', split.window, '--', 'sleep', '60');
  expect(await closeWindow(await rowOf(tmux, split))).toBe(false);

  const [window = '', pane = ''] = (
    await tmux.run('new-window', '-d', '-P', '-F', '#{window_id} #{pane_id}', '--', 'sleep', '60')
  ).split(' ');
  expect(await closeWindow(await rowOf(tmux, { ...split, window, pane }))).toBe(false);
  expect(await windowIds(tmux)).toContain(window);
});

test('a peer outside tmux, or on a server that is gone, has no window to kill', async () => {
  expect(await closeWindow({ pid: 1 })).toBe(false);
  expect(await closeWindow({ pid: 1, tmux: 'main:@1.%1', tmuxSocket: '/nowhere/tmux' })).toBe(false);
});
