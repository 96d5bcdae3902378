import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { processState } from '../../src/os/proc.ts';
import type { Pane } from '../real/pane.ts';
import { send, untilGone } from '../real/processes.ts';
import { PaneBench } from './pane-bench.ts';
import { hasNodePty } from './pane-outer.ts';

const MODES =
  '#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{scroll_region_upper}-#{scroll_region_lower}';
const untidyTui = `
  process.stdin.setRawMode(true).resume();
  process.stdout.write('\\x1b[?1049h\\x1b[?25l\\x1b[?1000h\\x1b[?2004h\\x1b[5;10r\\x1b[31mTUI here');
  process.on('SIGINT', () => process.exit(0));
`;
/** Leaves the line discipline alone, so that Ctrl-C and Ctrl-Z are signals from the kernel. */
const cookedTui = `
  import { appendFileSync } from 'node:fs';
  process.on('SIGINT', () => appendFileSync(process.env.SEEN, 'interrupted '));
  setInterval(() => appendFileSync(process.env.SEEN, '.'), 50);
  console.log('TUI here');
`;

/** With a pty of its own the TUI may run under a shell; without one the wrapper is the window's own command. */
const ways = [
  { way: 'on a pty of its own', hasNodePty: true },
  { way: 'on the inherited terminal', hasNodePty: false },
].filter((each) => hasNodePty || !each.hasNodePty);

async function start(bench: PaneBench, argv: string[], isOnPty: boolean): Promise<Pane> {
  if (!isOnPty) return bench.tmux.open({ command: argv });
  const pane = await bench.tmux.open();
  await pane.enter(argv.join(' '), 50);
  return pane;
}

function lineModes(tty: string): string {
  return execFileSync('stty', ['-a', '-F', tty], { encoding: 'utf8' });
}

test.for(ways)('a TUI that is killed $way leaves a usable terminal', async (way) => {
  await using bench = await PaneBench.open(way);
  const pane = await bench.tmux.open({
    command: bench.script(untidyTui, { says: 'after the TUI', isLasting: true }),
  });
  const tty = await pane.format('#{pane_tty}');
  await pane.waitFor(/TUI here/);
  expect(await pane.format(MODES)).toBe('1 0 1 4-9');
  send((await bench.event('opened')).tui as number, 'SIGKILL');
  expect(await bench.event('exited')).toMatchObject({ code: null, signal: 'SIGKILL' });
  await pane.waitFor(/after the TUI/);
  expect(await pane.format(MODES)).toBe('0 1 0 0-23');
  const fresh = await bench.tmux.open({ command: ['sleep', '60'] });
  const freshTty = await fresh.format('#{pane_tty}');
  await expect.poll(() => lineModes(freshTty)).toBe(lineModes(tty));
});

test.for(ways)('nothing is written to the terminal after a TUI that left $way by itself', async (way) => {
  await using bench = await PaneBench.open(way);
  const argv = bench.script(untidyTui);
  const pane = await bench.tmux.open({ command: argv });
  await pane.waitFor(/TUI here/);
  send((await bench.event('opened')).tui as number, 'SIGINT');
  expect(await bench.event('exited')).toMatchObject({ code: 0, signal: null });
  expect(await pane.exitStatus()).toBe(0);
  expect(await pane.format(MODES)).toBe('1 0 1 4-9');
});

test.for(ways)("Ctrl-C is the TUI's $way, and Ctrl-Z stops neither it nor the wrapper", async (way) => {
  await using bench = await PaneBench.open(way);
  const pane = await start(bench, bench.script(cookedTui), way.hasNodePty);
  const { tui, wrapper } = await bench.event('opened');
  await bench.seen(/\.\.$/);
  await pane.keys('C-c');
  await bench.seen(/interrupted \.\./);
  await pane.keys('C-z');
  await sleep(300);
  const ticks = bench.events().length;
  const beats = (await bench.seen(/$/)).length;
  await sleep(300);
  expect(bench.events().length).toBeGreaterThan(ticks);
  expect((await bench.seen(/$/)).length).toBeGreaterThan(beats);
  expect([processState(tui as number), processState(wrapper as number)]).not.toContain('T');
});

test.for(ways)('a TUI that stops its own group, as Codex does at Ctrl-Z, goes on $way', async (way) => {
  await using bench = await PaneBench.open(way);
  const argv = bench.script(`${cookedTui}
    setTimeout(() => {
      appendFileSync(process.env.SEEN, 'stopping ');
      process.kill(0, 'SIGTSTP');
    }, 100);
  `);
  await start(bench, argv, way.hasNodePty);
  const { tui, wrapper } = await bench.event('opened');
  await bench.seen(/stopping \.\./);
  expect([processState(tui as number), processState(wrapper as number)]).not.toContain('T');
});

test.for(ways)('the TUI $way has the size of the window, also after a resize', async (way) => {
  await using bench = await PaneBench.open(way);
  const argv = bench.script(`
    const show = () => process.stdout.write('<' + process.stdout.columns + 'x' + process.stdout.rows + '>');
    process.stdout.on('resize', show);
    process.stdin.resume();
    show();
  `);
  const pane = await start(bench, argv, way.hasNodePty);
  await pane.waitFor(/<80x24>/);
  await pane.resize(101, 31);
  await pane.waitFor(/<101x31>/);
});

test.skipIf(!hasNodePty)('the end of a pane leaves nobody of its session, not even an orphan', async () => {
  await using bench = await PaneBench.open();
  const argv = bench.script(`
    import { execFileSync } from 'node:child_process';
    execFileSync('sh', ['-c', 'nohup sleep 60 & echo $! >"$SEEN"'], { stdio: 'ignore' });
    process.stdin.resume();
  `);
  await start(bench, argv, true);
  const { tui, wrapper } = await bench.event('opened');
  const orphan = Number(await bench.seen(/\d+\n/));
  send(wrapper as number, 'SIGUSR2');
  await bench.event('ended');
  expect(await untilGone(tui as number, 0)).toBe(true);
  expect(await untilGone(orphan, 0)).toBe(true);
});

test('the end of a pane leaves no child of the TUI, not even one that ignores polite signals', async () => {
  await using bench = await PaneBench.open({ hasNodePty: false });
  const argv = bench.script(`
    import { spawn } from 'node:child_process';
    const script = 'trap "" HUP TERM; echo $$ >>"$SEEN"; while :; do sleep 1; done';
    spawn('sh', ['-c', script], { stdio: 'ignore' });
    process.on('SIGTERM', () => {}).on('SIGHUP', () => {});
    process.stdin.resume();
  `);
  await start(bench, argv, false);
  const { tui, wrapper } = await bench.event('opened');
  const grandchild = Number(await bench.seen(/\d+\n/));
  send(wrapper as number, 'SIGUSR2');
  await bench.event('ended');
  expect(await untilGone(tui as number, 0)).toBe(true);
  expect(await untilGone(grandchild, 0)).toBe(true);
  expect(await bench.event('exited')).toMatchObject({ signal: 'SIGKILL' });
});

test.skipIf(!hasNodePty)('a wrapper that is killed takes its TUI with it', async () => {
  await using bench = await PaneBench.open();
  await start(bench, bench.script(untidyTui), true);
  const { tui, wrapper } = await bench.event('opened');
  send(wrapper as number, 'SIGKILL');
  expect(await untilGone(tui as number, 2_000)).toBe(true);
});

test.skipIf(!hasNodePty)(
  'a wrapper that a shell let go on is raw again and its TUI draws itself anew',
  async () => {
    await using bench = await PaneBench.open();
    const argv = bench.script(`
    import { appendFileSync } from 'node:fs';
    const see = (what) => appendFileSync(process.env.SEEN, what);
    process.stdin.setRawMode(true).on('data', (keys) => see(keys));
    process.on('SIGWINCH', () => see('redrawn '));
    process.stdout.write('TUI here');
  `);
    // tmux itself continues a stopped process only when it is the pane's own.
    const pane = await bench.tmux.open({ command: ['sh', '-c', '"$@"; true', 'sh', ...argv] });
    await pane.waitFor(/TUI here/);
    const { wrapper } = await bench.event('opened');
    send(wrapper as number, 'SIGSTOP');
    writeFileSync(bench.seenFile, '');
    execFileSync('stty', ['-F', await pane.format('#{pane_tty}'), 'sane']);
    send(wrapper as number, 'SIGCONT');
    await bench.seen(/redrawn/);
    await pane.keys('C-z', 'q');
    expect((await bench.seen(/q$/)).slice(-2)).toBe('\x1aq');
  },
);

test.skipIf(!hasNodePty)('a TUI is hung up when its window is killed', async () => {
  await using bench = await PaneBench.open();
  const pane = await bench.tmux.open({ command: bench.script(untidyTui, { survivesHangup: true }) });
  await pane.waitFor(/TUI here/);
  await bench.tmux.open();
  await pane.killWindow();
  expect(await bench.event('exited')).toMatchObject({ code: null, signal: 'SIGHUP' });
});

test('without node-pty no TUI is started under a shell, and the error says why and what to do', async () => {
  await using bench = await PaneBench.open({ hasNodePty: false });
  const pane = await bench.tmux.open();
  await pane.enter(bench.script(untidyTui).join(' '), 50);
  const { word, message } = await bench.event('failed');
  expect(word).toBe('pane-unavailable');
  expect(message).toMatch(/node-pty cannot be loaded.*Ctrl-Z.*--window or --headless/s);
});

test('no TUI is started by a background job, which the first change of modes would stop', async () => {
  await using bench = await PaneBench.open();
  const pane = await bench.tmux.open();
  await pane.enter(`${bench.script(untidyTui).join(' ')} &`, 50);
  expect(await bench.event('failed')).toMatchObject({
    word: 'pane-unavailable',
    message: expect.stringContaining('background'),
  });
});

test('no TUI is started where there is no terminal, no program or no folder', async () => {
  await using bench = await PaneBench.open();
  const isRefused = async (command: string[], message: RegExp) => {
    bench.clear();
    await bench.tmux.open({ command });
    expect(await bench.event('failed')).toMatchObject({
      word: 'pane-unavailable',
      message: expect.stringMatching(message),
    });
  };
  const argv = bench.script(untidyTui);
  await isRefused(['sh', '-c', '"$@" </dev/null', 'sh', ...argv], /needs a terminal/);
  await isRefused(bench.command({ file: '/nowhere/codex', args: [] }), /cannot be run: \/nowhere\/codex/);
  await isRefused(bench.script(untidyTui, { cwd: '/nowhere' }), /folder is gone: \/nowhere/);
});

test('a TUI that crashes at each start is started four times, then the peer goes on without it', async () => {
  await using bench = await PaneBench.open({ hasNodePty });
  const argv = bench.command({
    file: '/bin/sh',
    args: ['-c', 'echo start >>"$SEEN"; printf "\\033[?1049h"; exit 3'],
    isKept: true,
    says: 'goes on',
  });
  const pane = await bench.tmux.open({ command: argv });
  expect(await bench.event('headless', 8_000)).toMatchObject({
    reason: 'it ended with status 3, 4 times in a row',
  });
  expect(await bench.seen(/start/)).toBe('start\n'.repeat(4));
  await pane.waitFor(/goes on/);
  expect(await pane.format('#{alternate_on}')).toBe('0');
});
