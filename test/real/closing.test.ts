import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { commentary, final, script } from './model-script.ts';
import { publishedFiles, rowOf } from './peer-facts.ts';
import { PeerProcess, peerCommand, runPeer } from './peer-process.ts';
import { poll } from './poll.ts';
import { untilGone } from './processes.ts';
import type { RawClient } from './raw-client.ts';
import { ScriptPeer } from './script-peer.ts';
import {
  type Bench,
  openBench,
  openRawClient,
  openSender,
  openSol,
  repliesTo,
  replyTo,
  type Sol,
} from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';
import { Tmux } from './tmux.ts';

let world: World;
let bench: Bench;
let a: ScriptPeer;
let b: ScriptPeer;
let other: RawClient;
/** What the senders have published: all that may be there without a peer. */
let files: readonly string[];

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  a = await openSender(bench, 'alpha');
  b = await openSender(bench, 'beta');
  other = await openRawClient(bench);
  files = publishedFiles(world);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

interface Told {
  readonly running: string;
  readonly queued: string;
}

/** Gives Sol a message that its model holds back until `key` is released, and one behind it. */
async function keepBusy(sol: Sol, key: string): Promise<Told> {
  const text = `${key} ${script([[commentary('half'), { hold: key }, final('never')]])}`;
  const running = await a.send({ to: sol.name, text });
  await bench.model.held(key);
  const queued = await b.send({ to: sol.name, text: 'queued' });
  return { running: running.msgId, queued: queued.msgId };
}

/** Whether nobody is subscribed to the thread, which is idle: only then Codex takes a resume's overrides. */
async function isLeft(threadId: string): Promise<boolean> {
  const params = { threadId, excludeTurns: true, model: 'taken over' };
  const { model } = await other.call('thread/resume', params);
  await other.call('thread/unsubscribe', { threadId });
  return model === 'taken over';
}

async function isIdle(threadId: string): Promise<void> {
  const { thread } = await other.call('thread/read', { threadId });
  if (thread.status.type === 'idle') return;
  await sleep(25);
  await isIdle(threadId);
}

describe('a headless peer that is closed', () => {
  test.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
    'by %s leaves nothing, tells its senders once, and lets go of the thread',
    async (name) => {
      const sol = await openSol(bench);
      const { running, queued } = await keepBusy(sol, name);
      const began = performance.now();
      expect(await sol.process.stop(name)).toEqual({ code: 0, signal: null });
      expect(performance.now() - began).toBeLessThan(2_000);
      expect(publishedFiles(world)).toEqual(files);
      expect(sol.process.stderr).toMatch(/^Sol \d+ is closed: [^\n]+\.\n$/);
      const kept = { kind: 'note', outcome: 'no-answer' };
      expect(await replyTo(a, running)).toMatchObject({
        ...kept,
        body: expect.stringMatching('closed while'),
      });
      const told = await replyTo(b, queued);
      expect(told).toMatchObject({ kind: 'note', outcome: 'not-taken' });
      expect(told.body).toMatch(/: closed\].*safe to send again/);
      bench.model.release(name);
      await isIdle(sol.threadId);
      expect(await isLeft(sol.threadId)).toBe(true);
      expect([repliesTo(a, running), repliesTo(b, queued)]).toEqual([1, 1]);
    },
  );

  test('is listed no more while it still tells its senders, and does not wait for ever for one', async () => {
    const stuck = world.own(await ScriptPeer.spawn({ env: world.env, name: 'stuck', hangUp: 'never' }));
    const sol = await openSol(bench);
    const text = `stuck ${script([[{ hold: 'stuck' }, final('never')]])}`;
    const { msgId } = await stuck.send({ to: sol.name, text });
    await bench.model.held('stuck');
    const socket = rowOf(world, sol.name)?.messagingSocketPath ?? '';
    const ending = sol.process.stop();
    await replyTo(stuck, msgId);
    expect([rowOf(world, sol.name), existsSync(socket)]).toEqual([undefined, true]);
    const told = performance.now();
    await ending;
    expect(performance.now() - told).toBeGreaterThan(1_500);
    expect(performance.now() - told).toBeLessThan(4_000);
    await stuck.close();
    expect(publishedFiles(world)).toEqual(files);
    bench.model.release('stuck');
  });

  test('by `peer close`, which returns when all of it is gone', async () => {
    const sol = await openSol(bench);
    const closed = await runPeer(['close', sol.name.toUpperCase()], { env: world.env });
    expect(closed).toEqual({ code: 0, stdout: `${sol.name} is closed\n`, stderr: '' });
    expect(publishedFiles(world)).toEqual(files);
    expect((await sol.process.exited).code).toBe(0);
    expect(await isLeft(sol.threadId)).toBe(true);
  });

  test.each(['archive', 'delete'])('because its thread was taken away (%s), says so', async (how) => {
    const sol = await openSol(bench);
    const { running, queued } = await keepBusy(sol, how);
    await other.call(`thread/${how}`, { threadId: sol.threadId });
    expect((await sol.process.exited).code).toBe(0);
    expect(sol.process.stderr).toBe(`${sol.name} is closed: its thread was ${how}d in Codex.\n`);
    expect(publishedFiles(world)).toEqual(files);
    expect(await replyTo(a, running)).toMatchObject({ kind: 'note', outcome: 'no-answer' });
    expect((await replyTo(b, queued)).kind).toBe('note');
    expect([repliesTo(a, running), repliesTo(b, queued)]).toEqual([1, 1]);
  });

  const hasRow = (name: string) => rowOf(world, name) !== undefined;
  const hasThread = (name: string) => existsSync(join(world.claudeDir, 'codex-peer-threads', name));
  const hasSocket = () => publishedFiles(world).length === files.length + 3;
  test.each<[string, (name: string) => boolean]>([
    ['it was started', () => true],
    ['its row is there', hasRow],
    ['its thread is recorded', hasThread],
    ['its socket is there', hasSocket],
  ])('as soon as %s leaves nothing', async (moment, isThere) => {
    const name = `Early ${moment.length}`;
    const options = { env: world.env, cwd: world.work };
    const opening = world.own(new PeerProcess(['open', name, '--headless'], options));
    await poll(() => isThere(name), 10_000, 'it does not open');
    const { code, signal } = await opening.stop('SIGTERM');
    expect(publishedFiles(world)).toEqual(files);
    // Before Node runs our code, the signal ends it; once it is ready, the peer was open.
    if (code === 130) {
      const nothing = `peer: ${name} was not opened: it was told to (SIGTERM). Nothing of it is left.\n`;
      expect(opening.stderr).toBe(nothing);
    } else {
      expect([code, signal]).toEqual(opening.stdout === '' ? [null, 'SIGTERM'] : [0, null]);
    }
  });
});

describe('a peer that is killed', () => {
  test.each(['list', 'open'])('leaves files that the next `peer %s` removes', async (command) => {
    const sol = await openSol(bench);
    await sol.process.stop('SIGKILL');
    expect(publishedFiles(world)).toHaveLength(files.length + 3);
    if (command === 'list') {
      const { code, stdout } = await runPeer(['list', '--json'], { env: world.env });
      expect(code).toBe(0);
      expect(JSON.parse(stdout).map(({ name }: { name: string }) => name)).toEqual(['alpha', 'beta']);
    } else {
      const again = await openSol(bench, [], sol.name);
      expect(again.threadId).toBe(sol.threadId);
      await again.process.stop();
    }
    expect(publishedFiles(world)).toEqual(files);
  });
});

test('--detach: the peer survives the terminal that it was opened in', async () => {
  await using tmux = new Tmux(world);
  const shell = await tmux.open();
  const command = [...peerCommand, 'open', 'Remote', '--headless', '--detach'].join(' ');
  await shell.enter(`${command}; echo "code $?"`);
  const screen = await shell.waitFor(/code \d/);
  expect(screen).toMatch(/Remote is open, in the background/);
  expect(screen).toMatch('code 0');
  const { pid, sessionId } = rowOf(world, 'Remote')!;
  expect(execFileSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' }).trim()).toBe(`${pid}`);
  await shell.killWindow();
  await sleep(300);
  const { msgId } = await a.send({ to: 'Remote', text: `still there? ${script([[final('yes')]])}` });
  expect(await replyTo(a, msgId)).toMatchObject({ kind: 'answer', body: 'yes' });
  expect((await runPeer(['close', 'Remote'], { env: world.env })).code).toBe(0);
  expect(await untilGone(pid, 100)).toBe(true);
  expect(publishedFiles(world)).toEqual(files);
  expect(await isLeft(sessionId)).toBe(true);
});
