import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { processState } from '../../src/os/proc.ts';
import { PaneBench } from '../wrapper/pane-bench.ts';
import { hasNodePty } from '../wrapper/pane-outer.ts';
import { openCodex } from './codex-server.ts';
import type { Pane } from './pane.ts';
import { send } from './processes.ts';
import { codexBinary } from './programs.ts';

const MODES = '#{alternate_on} #{cursor_flag}';

async function openTui(bench: PaneBench): Promise<Pane> {
  const { server } = await openCodex(bench.world);
  await using client = await server.client();
  const thread = await client.startThread(bench.world.work);
  const args = ['--remote', `unix://${server.socketPath}`, '-C', bench.world.work, 'resume', thread];
  const command = bench.command({ file: codexBinary(), args, says: 'the TUI has ended', isLasting: true });
  const pane = await bench.tmux.open({ command, cols: 100, rows: 30 });
  await pane.waitFor(/OpenAI Codex/);
  return pane;
}

test('the real TUI survives Ctrl-Z, and /quit ends it with 0 and a tidy terminal', async () => {
  await using bench = await PaneBench.open({ hasNodePty });
  const pane = await openTui(bench);
  const { tui, wrapper } = await bench.event('opened');
  await pane.keys('C-z');
  await sleep(500);
  expect([processState(tui as number), processState(wrapper as number)]).not.toContain('T');
  // Codex 0.171.0 leaves the screen to its shell and comes back by itself after a second or two.
  await pane.waitFor(/OpenAI Codex/);
  await pane.type('a half-typed line');
  await pane.waitFor(/a half-typed line/);
  await pane.keys('C-c');
  await sleep(400);
  await pane.enter('/quit');
  expect(await bench.event('exited', 10_000)).toMatchObject({ code: 0, signal: null });
  await pane.waitFor(/the TUI has ended/);
  expect(await pane.format(MODES)).toBe('0 1');
});

test('the real TUI that is killed on the inherited terminal leaves it tidy', async () => {
  await using bench = await PaneBench.open({ hasNodePty: false });
  const pane = await openTui(bench);
  expect(await pane.format('#{alternate_on}')).toBe('1');
  send((await bench.event('opened')).tui as number, 'SIGKILL');
  expect(await bench.event('exited')).toMatchObject({ code: null, signal: 'SIGKILL' });
  await pane.waitFor(/the TUI has ended/);
  expect(await pane.format(MODES)).toBe('0 1');
});
