import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EXIT } from '../../src/errors.ts';
import { keyFile } from '../../src/registry/key.ts';
import { ClaudeModel } from './claude-model.ts';
import { ClaudePane } from './claude-pane.ts';
import { rowsOf } from './claude-row.ts';
import { ClaudeSession } from './claude-session.ts';
import { ClaudeTalk, rowOf } from './claude-talk.ts';
import { final, script } from './model-script.ts';
import { runPeer, startPeer } from './peer-process.ts';
import { poll } from './poll.ts';
import { type Bench, openBench, openSender, openSol, replyTo, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';
import { Tmux } from './tmux.ts';

let world: World;
let bench: Bench;
let talk: ClaudeTalk;
let sol: Sol;
let alpha: ClaudeSession;

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  talk = new ClaudeTalk(world, world.own(await ClaudeModel.start()));
  sol = await openSol(bench, [], 'Sol');
  alpha = await talk.start('alpha');
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

function open(name: string, env: NodeJS.ProcessEnv = world.env) {
  return runPeer(['open', name, '--headless'], { env, cwd: world.work });
}

async function listed(env: NodeJS.ProcessEnv = world.env): Promise<string[]> {
  const { stdout } = await runPeer(['list', '--json'], { env });
  return JSON.parse(stdout).map(({ name }: { name: string }) => name);
}

describe('a name', () => {
  test('that our peer has makes a real Claude in a terminal take another one', async () => {
    const tmux = world.own(new Tmux(world));
    const options = { env: world.env, modelUrl: talk.model.url, name: 'Sol', cwd: world.work };
    await using second = await ClaudePane.start(options, (command) => tmux.open(command));
    expect(second.row?.name).toMatch(/^Sol-\w+-\w+$/);
    expect(rowOf(world, 'Sol').pid).toBe(sol.process.pid);
  });

  test('that a real Claude without a terminal doubles is ambiguous: both are named, nothing is sent', async () => {
    await using second = await talk.start('Sol');
    const { code, stderr } = await runPeer(['send', 'Sol', 'which one?'], { env: world.env });
    expect(code).toBe(EXIT.noSuchPeer);
    for (const pid of [sol.process.pid, second.pid])
      expect(stderr).toContain(`  ${pid}  "Sol"  ${world.work}\n`);
    expect(bench.model.requests.filter(({ text }) => text.includes('which one?'))).toEqual([]);
  });

  test.each(['alpha', 'ALPHA'])(
    'that a real Claude has is refused, with the place where it is: %s',
    async (name) => {
      const { code, stdout, stderr } = await open(name);
      expect({ code, stdout }).toEqual({ code: EXIT.taken, stdout: '' });
      expect(stderr).toBe(
        `peer: ${name} is already open: pid ${alpha.pid}. Go there, close it (peer close), or choose another name.\n`,
      );
      expect(rowsOf(world.env).filter((row) => row.name?.toLowerCase() === 'alpha')).toHaveLength(1);
    },
  );
});

describe('row and key of a running peer', () => {
  const files = () => {
    const sessionsDir = join(world.claudeDir, 'sessions');
    const { pid } = sol.process;
    const socketPath = join(world.runtimeDir, 'cc-socks', `${pid}.sock`);
    return [join(sessionsDir, `${pid}.json`), keyFile(sessionsDir, pid, socketPath)];
  };

  test.each<[string, (file: string) => void]>([
    ['deleted', (file) => rmSync(file)],
    ['emptied', (file) => writeFileSync(file, '')],
    [
      'overwritten',
      (file) => writeFileSync(file, JSON.stringify({ pid: 1, name: 'Nobody', peerToken: '0' })),
    ],
  ])('are there again within a second when they were %s', async (_, harm) => {
    const both = files();
    const texts = both.map((file) => readFileSync(file, 'utf8'));
    for (const file of both) harm(file);
    const areBack = () =>
      both.every((file, index) => existsSync(file) && readFileSync(file, 'utf8') === texts[index]);
    await poll(areBack, 1_000, 'they are not');
  });

  test('serve a real Claude as before', async () => {
    const id = await talk.brief(alpha, 'Sol', `still there? ${script([[final('as ever')]])}`);
    const isShown = (text: string) => text.includes(`>\nas ever\n\n(answer to ${id.slice(0, 8)})`);
    await poll(
      () => talk.model.requests.some((one) => talk.model.textsOf(one).some(isShown)),
      10_000,
      'no answer',
    );
    await alpha.nextResult();
  });
});

describe('a peer and a real Claude choose the same folders', () => {
  const long = () => join(world.root, 'l'.repeat(80));
  test.each<[string, () => NodeJS.ProcessEnv, () => string]>([
    [
      'without XDG_RUNTIME_DIR',
      () => ({ XDG_RUNTIME_DIR: undefined }),
      () => join(world.env.TMPDIR!, 'cc-socks'),
    ],
    [
      'without CLAUDE_CONFIG_DIR',
      () => ({ CLAUDE_CONFIG_DIR: undefined }),
      () => join(world.runtimeDir, 'cc-socks'),
    ],
    [
      'where the path of a socket would be too long',
      () => ({ XDG_RUNTIME_DIR: long() }),
      () => `/tmp/cc-socks-${process.getuid?.()}`,
    ],
  ])('%s', async (how, change, socketDir) => {
    const env = { ...world.env, ...change() };
    const name = `Sol ${how.length}`;
    await using peer = await startPeer(['open', name, '--headless'], {
      env,
      cwd: world.work,
      ready: / is open/,
    });
    const options = { env, modelUrl: talk.model.url, name: `claude ${how.length}`, cwd: world.work };
    await using session = await ClaudeSession.start(options);
    expect(dirname(session.socketPath)).toBe(socketDir());
    const row = rowsOf(env).find((one) => one.pid === peer.pid);
    expect(row?.messagingSocketPath).toBe(join(socketDir(), `${peer.pid}.sock`));
    await talk.brief(session, name, `hello ${script([[final(`found you ${how}`)]])}`);
    await talk.model.waitForText(`>\nfound you ${how}\n`);
    expect(await listed(env)).toEqual(expect.arrayContaining([name, options.name]));
  });
});

describe('a socket folder that is not safe', () => {
  const folder = (name: string) => join(world.root, name, 'cc-socks');
  test.each<[string, (path: string) => void, string]>([
    [
      'others can look into',
      (path) => chmodSync(path, 0o755),
      'other users of this machine can get into it. Nothing was opened or sent. Run: chmod 700 PATH',
    ],
    [
      'is a link',
      (path) => {
        rmSync(path, { recursive: true });
        symlinkSync(world.work, path);
      },
      'it is a symbolic link. Nothing was opened or sent. Remove the link.',
    ],
    [
      'is a file',
      (path) => {
        rmSync(path, { recursive: true });
        writeFileSync(path, '');
      },
      "it cannot be created (EEXIST: file already exists, mkdir 'PATH'). Nothing was opened or sent. See what stands in its place.",
    ],
  ])('%s: nothing is published, and it is said what to do', async (how, spoil, sentence) => {
    const path = folder(`bad ${how.length}`);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    spoil(path);
    const before = rowsOf(world.env).length;
    const { code, stdout, stderr } = await open('Unsafe', { ...world.env, XDG_RUNTIME_DIR: dirname(path) });
    expect({ code, stdout }).toEqual({ code: EXIT.unavailable, stdout: '' });
    expect(stderr).toBe(`peer: The folder ${path} cannot be used: ${sentence.replaceAll('PATH', path)}\n`);
    expect(rowsOf(world.env)).toHaveLength(before);
  });
});

test('rows of another container are listed while their sockets accept, and never removed', async () => {
  const inContainer = await openSender(bench, 'in container');
  const sessionsDir = join(world.claudeDir, 'sessions');
  const write = (pid: number, name: string, messagingSocketPath: string) => {
    const file = join(sessionsDir, `${pid}.json`);
    const row = {
      pid,
      name,
      messagingSocketPath,
      procStart: '1',
      pidDomain: 'linux:other:pid:[1]',
      bridge: 'peerwire',
    };
    writeFileSync(file, JSON.stringify(row));
    return file;
  };
  const files = [
    write(4_000_001, 'Elsewhere', inContainer.socketPath),
    write(4_000_002, 'Gone elsewhere', join(world.runtimeDir, 'cc-socks', '4000002.sock')),
  ];
  expect(await listed()).toContain('Elsewhere');
  expect(await listed()).not.toContain('Gone elsewhere');
  const peer = await openSol(bench);
  // Its own domain is computed, not taken from whoever is there already.
  expect(rowOf(world, peer.name).pidDomain).toBe(alpha.row?.pidDomain);
  const { msgId } = await inContainer.send({ to: peer.name, text: `hello ${script([[final('hello')]])}` });
  expect((await replyTo(inContainer, msgId)).body).toBe('hello');
  await peer.process.stop();
  expect(files.map(existsSync)).toEqual([true, true]);
});

test('tmux is asked once where a peer is, and never again while it works', async () => {
  const bin = join(world.root, 'bin');
  const calls = join(world.root, 'tmux-calls');
  mkdirSync(bin);
  const fake = `#!/bin/sh\necho called >> ${calls}\nprintf '#{session}\\t@7\\t%%8\\n'\n`;
  writeFileSync(join(bin, 'tmux'), fake, { mode: 0o755 });
  const env = { ...world.env, PATH: `${bin}:${world.env.PATH}`, TMUX: '/nowhere/tmux,1,0', TMUX_PANE: '%8' };
  const options = { env, cwd: world.work, ready: / is open/ };
  await using _peer = await startPeer(['open', 'Placed', '--headless'], options);
  const sender = await openSender(bench, 'asks');
  for (const text of ['one', 'two']) {
    const { msgId } = await sender.send({ to: 'Placed', text: `${text} ${script([[final(text)]])}` });
    expect((await replyTo(sender, msgId)).body).toBe(text);
  }
  expect(readFileSync(calls, 'utf8')).toBe('called\n');
});
