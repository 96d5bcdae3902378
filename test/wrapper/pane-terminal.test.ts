import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { processState } from '../../src/os/proc.ts';
import { PaneBench } from './pane-bench.ts';

test('the modes of the terminal are as before when the TUI was killed, and the screen is reset', async () => {
  await using bench = await PaneBench.open();
  const argv = bench.script(
    `process.stdin.setRawMode(true).resume();
     process.stdout.write('\\x1b[?1049h\\x1b[?25l\\x1b[?1000h\\x1b[?1006h\\x1b[?2004h\\x1b[5;10r\\x1b[31mTUI here');`,
    { says: 'after the TUI' },
  );
  const pane = await bench.tmux.open();
  const tty = await pane.format('#{pane_tty}');
  const before = execFileSync('stty', ['-a', '-F', tty], { encoding: 'utf8' });
  await pane.enter(`exec sh -c '${argv.join(' ')}; sleep 60'`, 50);
  await pane.waitFor(/TUI here/);
  expect(await pane.format('#{alternate_on} #{cursor_flag} #{mouse_any_flag}')).toBe('1 0 1');
  const { tui } = await bench.event('opened');
  process.kill(tui as number, 'SIGKILL');
  expect(await bench.event('exited')).toMatchObject({ code: null, signal: 'SIGKILL' });
  await pane.waitFor(/after the TUI/);
  expect(await pane.format('#{alternate_on} #{cursor_flag} #{mouse_any_flag}')).toBe('0 1 0');
  expect(execFileSync('stty', ['-a', '-F', tty], { encoding: 'utf8' })).toBe(before);
  expect(processState(tui as number)).toBeNull();
});
