import { expect, test } from 'vitest';
import { openWorld } from './temp.ts';
import { Tmux } from './tmux.ts';

test('a pane has the size it was opened with, and the one it is resized to', async () => {
  await using world = openWorld();
  const tmux = world.own(new Tmux(world));
  const pane = await tmux.open({ cols: 93, rows: 31 });
  await pane.enter('stty size', 50);
  await pane.waitFor(/^31 93$/m);
  await pane.resize(60, 20);
  await pane.enter('stty size', 50);
  await pane.waitFor(/^20 60$/m);
});

test('a pane has the environment of the world and nothing of ours', async () => {
  await using world = openWorld();
  const tmux = world.own(new Tmux(world));
  const pane = await tmux.open({ command: ['env'], env: { EXTRA: 'a;' }, rows: 60, cols: 200 });
  expect(await pane.exitStatus()).toBe(0);
  const names = (await pane.capture()).split('\n').flatMap((line) => line.match(/^(\w+)=/)?.[1] ?? []);
  const tmuxOwn = ['TMUX', 'TMUX_PANE', 'PWD', 'TERM_PROGRAM', 'TERM_PROGRAM_VERSION'];
  expect(names.filter((name) => !(name in world.env) && !tmuxOwn.includes(name))).toEqual(['EXTRA']);
});

test('an argument reaches the command byte for byte', async () => {
  await using world = openWorld();
  const tmux = world.own(new Tmux(world));
  const pane = await tmux.open({ command: ['printf', '%s|', '#(touch x);', ';', '$HOME'] });
  await pane.waitFor(/#\(touch x\);\|;\|\$HOME\|/);
});

test('a pane that never shows what is waited for says what it shows', async () => {
  await using world = openWorld();
  const tmux = world.own(new Tmux(world));
  const pane = await tmux.open({ command: ['echo', 'something else'] });
  await expect(pane.waitFor(/wanted/, 300)).rejects.toThrow(/never showed .*wanted.*\nsomething else/s);
});
