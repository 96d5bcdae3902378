import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { killWindow, newWindow, tmuxPlace, tmuxSocket, tmuxText, windowPanes } from '../../src/os/tmux.ts';
import { tempFolder, until } from './fixtures.ts';

it('finds where this process runs: server, session, window and pane', () => {
  using server = tmuxServer('work space');
  const [window, pane] = server.tmux('list-panes', '-F', '#{window_id} #{pane_id}').trim().split(' ');
  const env = { TMUX: `${server.socket},1,0`, TMUX_PANE: pane };
  expect(tmuxSocket(env)).toBe(server.socket);
  expect(tmuxPlace(env)).toEqual({ socket: server.socket, session: 'work space', window, pane });
});

it('finds no place outside tmux, and none when the server or the pane is gone', () => {
  using server = tmuxServer('main');
  expect(tmuxPlace({})).toBeNull();
  expect(tmuxPlace({ TMUX: '/nowhere/socket,1,0', TMUX_PANE: '%0' })).toBeNull();
  expect(tmuxPlace({ TMUX: `${server.socket},1,0` })).toBeNull();
});

it('makes a window that runs the command itself, and knows its panes until it is killed', async () => {
  using server = tmuxServer('main');
  const { socket, dir } = server;
  const place = await newWindow({ socket, session: 'main', name: 'Sol', cwd: dir, argv: ['sleep', '60'] });
  expect(place).toMatchObject({ socket, session: 'main', window: expect.stringMatching(/^@\d+$/) });
  const panes = await windowPanes(socket, place.window);
  expect(panes).toEqual([{ pane: place.pane, pid: expect.any(Number) }]);
  const commandLine = () => readFileSync(`/proc/${panes[0]!.pid}/cmdline`, 'utf8');
  await until(() => commandLine() === 'sleep\x0060\x00');
  await killWindow(socket, place.window);
  expect(await windowPanes(socket, place.window)).toEqual([]);
  await expect(killWindow(socket, place.window)).rejects.toThrow(/can't find window/);
});

it('gives the command its folder and arguments byte for byte and executes nothing in them', async () => {
  using server = tmuxServer('main');
  const { socket } = server;
  const hostile = [
    '#(touch made)',
    '#{window_id}',
    '$(touch made)',
    'a;',
    'kill-server;',
    '\\;',
    "'; touch made '",
    '##[x]',
    '',
  ];
  const cwd = join(server.dir, "#(touch made) #[b] 'x';");
  mkdirSync(cwd);
  const report = join(server.dir, 'report.json');
  const code =
    'require("fs").writeFileSync(process.argv[1], JSON.stringify([process.cwd(), process.argv.slice(2)]))';
  const argv: [string, ...string[]] = [process.execPath, '-e', code, '--', report, ...hostile];
  await newWindow({ socket, name: '#(touch made)\x1b[2J;', cwd, argv });
  await until(() => existsSync(report) && readFileSync(report, 'utf8').endsWith(']'));
  expect(JSON.parse(readFileSync(report, 'utf8'))).toEqual([cwd, hostile]);
  for (const folder of [server.dir, cwd]) expect(existsSync(join(folder, 'made'))).toBe(false);
});

it('shows a hostile name in the title as it is', async () => {
  using server = tmuxServer('main');
  const { socket, dir } = server;
  const place = await newWindow({ socket, name: 'a#(id)#{pid}\x1b\n;', cwd: dir, argv: ['sleep', '60'] });
  const title = server.tmux('display-message', '-p', '-t', place.window, '#{window_name}');
  expect(title).toBe('a#(id)#{pid};\n');
  expect(tmuxText('#(x)\x07')).toBe('##(x)');
});

it('rejects with the words of tmux when there is no server', async () => {
  using folder = tempFolder();
  const socket = join(folder.path, 'none');
  const opening = newWindow({ socket, name: 'Sol', cwd: folder.path, argv: ['true'] });
  await expect(opening).rejects.toThrow(/no server running|error connecting/);
  expect(await windowPanes(socket, '@1')).toEqual([]);
});

function tmuxServer(session: string) {
  const folder = tempFolder();
  const socket = join(folder.path, 'tmux');
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8', cwd: folder.path });
  tmux('new-session', '-d', '-s', session, 'sleep 60');
  return {
    socket,
    tmux,
    dir: folder.path,
    [Symbol.dispose]: () => {
      tmux('kill-server');
      folder[Symbol.dispose]();
    },
  };
}
