import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { publishedFiles, rowOf } from './peer-facts.ts';
import { PeerProcess, type PeerResult, runPeer } from './peer-process.ts';
import type { Loose, RawClient } from './raw-client.ts';
import type { ScriptPeer } from './script-peer.ts';
import { type Bench, openBench, openRawClient, openSender, openSol, replyTo, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

let world: World;
let bench: Bench;
let sender: ScriptPeer;
let other: RawClient;

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  sender = await openSender(bench, 'alpha');
  other = await openRawClient(bench);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

let opened: Sol[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((sol) => sol.process.stop()));
});

async function open(name: string, ...args: string[]): Promise<Sol> {
  const sol = await openSol(bench, args, name);
  opened.push(sol);
  return sol;
}

async function close(sol: Sol): Promise<void> {
  opened = opened.filter((one) => one !== sol);
  expect(await sol.process.stop()).toEqual({ code: 0, signal: null });
}

/** `peer open` that is expected to end by itself. */
function openInVain(name: string, ...args: string[]): Promise<PeerResult> {
  return runPeer(['open', name, '--headless', ...args], { env: world.env, cwd: world.work });
}

/** Asks Sol something; resolves to all that its model was shown with the question. */
async function shown(sol: Sol, question: string): Promise<string> {
  const { msgId } = await sender.send({ to: sol.name, text: question });
  await replyTo(sender, msgId);
  return JSON.stringify(bench.model.requests.findLast(({ text }) => text.includes(question))?.input);
}

/** The thread's settings now; this client is not subscribed afterwards. */
async function settingsOf({ threadId }: Sol, overrides: object = {}): Promise<Loose> {
  const settings = await other.call('thread/resume', { threadId, excludeTurns: true, ...overrides });
  await other.call('thread/unsubscribe', { threadId });
  return settings;
}

describe('a name keeps its thread', () => {
  test('reopened, also in another case, it knows what was said', async () => {
    const first = await open('Keeper');
    await shown(first, 'the word is cherry');
    await close(first);
    const second = await open('keeper');
    expect(second.threadId).toBe(first.threadId);
    expect(await shown(second, 'which word was it?')).toContain('the word is cherry');
    expect(second.process.stderr).toBe('');
  });

  test('unless --new is given: then it is said how the old thread is had again', async () => {
    const first = await open('New One');
    await shown(first, 'the word is plum');
    await close(first);
    const second = await open('New One', '--new');
    expect(second.threadId).not.toBe(first.threadId);
    expect(second.process.stderr).toBe(
      `New One has another thread now. The one before is kept: peer open "New One" --thread ${first.threadId}\n`,
    );
    expect(await shown(second, 'which word?')).not.toContain('plum');
    await close(second);
    expect((await open('New One')).threadId).toBe(second.threadId);
    await close(opened[0]!);
    const again = await open('New One', '--thread', first.threadId);
    expect(again.threadId).toBe(first.threadId);
    expect(await shown(again, 'and now?')).toContain('the word is plum');
  });

  test('and the thread keeps its folder, wherever it is reopened from, unless --cwd is given', async () => {
    const writable = ['--sandbox', 'workspace-write'];
    const first = await open('Homebody', ...writable);
    await close(first);
    const from = { env: world.env, cwd: world.home };
    const elsewhere = new PeerProcess(['open', 'Homebody', '--headless', ...writable], from);
    await elsewhere.line(/ is open/);
    expect(rowOf(world, 'Homebody')?.cwd).toBe(world.work);
    expect(elsewhere.stderr).toBe(`Homebody works in ${world.work}, where its thread was; --cwd moves it.\n`);
    expect(await settingsOf(first)).toMatchObject({ cwd: world.work, runtimeWorkspaceRoots: [world.work] });
    await elsewhere.stop();
    const moved = await open('Homebody', ...writable, '--cwd', world.home);
    expect(rowOf(world, 'Homebody')?.cwd).toBe(world.home);
    expect(await settingsOf(moved)).toMatchObject({ cwd: world.home, runtimeWorkspaceRoots: [world.home] });
  });
});

describe('what was asked for arrives in the thread and in the row', () => {
  const asked = [
    '--model',
    'm1',
    '--effort',
    'high',
    '--sandbox',
    'workspace-write',
    '--approval',
    'untrusted',
  ];

  test('when a thread is made, and when it is opened again with something else', async () => {
    const first = await open('Asked', ...asked);
    const before = { model: 'm1', reasoningEffort: 'high', approvalPolicy: 'untrusted' };
    expect(await settingsOf(first)).toMatchObject({ ...before, sandbox: { type: 'workspaceWrite' } });
    expect(rowOf(world, 'Asked')).toMatchObject({ model: 'm1', effort: 'high', sessionId: first.threadId });
    await close(first);
    const second = await open('Asked', '--model', 'm2', '--effort', 'low');
    const after = { model: 'm2', reasoningEffort: 'low', approvalPolicy: 'never' };
    expect(await settingsOf(second)).toMatchObject({ ...after, sandbox: { type: 'readOnly' } });
    expect(rowOf(world, 'Asked')).toMatchObject({ model: 'm2', effort: 'low' });
  });

  test('also while another client is subscribed, whose presence makes Codex ignore it', async () => {
    const first = await open('Watched', ...asked);
    await other.call('thread/resume', { threadId: first.threadId, excludeTurns: true });
    await close(first);
    await open('Watched', '--model', 'm2', '--effort', 'low');
    expect(rowOf(world, 'Watched')).toMatchObject({ model: 'm2', effort: 'low' });
    const settings = await settingsOf(first);
    expect(settings).toMatchObject({ model: 'm2', reasoningEffort: 'low', approvalPolicy: 'never' });
    expect(settings.sandbox).toMatchObject({ type: 'readOnly', networkAccess: false });
  });
});

describe('a peer that cannot be opened says why, and leaves nothing', () => {
  test('a recorded thread that Codex does not have', async () => {
    const first = await open('Lost One');
    await close(first);
    const unknown = first.threadId.replace(/.{4}$/, 'ffff');
    writeFileSync(join(world.claudeDir, 'codex-peer-threads', 'Lost One'), `${unknown}\n`);
    const before = publishedFiles(world);
    const { code, stdout, stderr } = await openInVain('Lost One');
    expect([code, stdout]).toEqual([8, '']);
    expect(stderr).toMatch(
      /^peer: Codex cannot load the thread of Lost One: .*rollout.*`peer open "Lost One" --new`.*\n$/,
    );
    expect(publishedFiles(world)).toEqual(before);
    expect((await open('Lost One', '--new')).threadId).not.toBe(unknown);
  });

  test('a name whose thread cannot be looked up, unless it is given another one', async () => {
    const file = join(world.claudeDir, 'codex-peer-threads', 'Blurred');
    mkdirSync(dirname(file), { recursive: true });
    execFileSync('mkfifo', [file]);
    const options = { env: world.env, cwd: world.work };
    const { code, stderr } = await runPeer(['open', 'Blurred', '--headless'], options);
    expect(code).toBe(8);
    expect(stderr).toContain('open with --new');
    const opened = await openSol(bench, ['--new'], 'Blurred');
    await opened.process.stop();
  });

  test('an archived thread, which is not unarchived', async () => {
    const first = await open('Archived');
    await shown(first, 'something to keep');
    await close(first);
    await other.call('thread/archive', { threadId: first.threadId });
    const { code, stderr } = await openInVain('Archived');
    expect(code).toBe(8);
    expect(stderr).toMatch(
      /^peer: The thread of Archived is archived.*codex unarchive.*`peer open Archived --new`.*\n$/,
    );
    await expect(settingsOf(first)).rejects.toThrow('is archived');
  });

  test('a name, in any case, or a thread that is open already, with the place where it is', async () => {
    const first = await open('Taken');
    const where = `pid ${first.process.pid}`;
    const sameName = await openInVain('TAKEN');
    expect(sameName.code).toBe(10);
    expect(sameName.stderr).toBe(
      `peer: TAKEN is already open: ${where}. Go there, close it (peer close), or choose another name.\n`,
    );
    const sameThread = await openInVain('Other Name', '--thread', first.threadId);
    expect(sameThread.code).toBe(10);
    expect(sameThread.stderr).toMatch(`This thread is already open as Taken: ${where}.`);
    expect(await shown(first, 'still there?')).toContain('still there?');
  });

  test('one of two that open a name at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const from = { env: world.env, cwd: world.work };
      const both = [0, 1].map(() => new PeerProcess(['open', 'Twin', '--headless'], from));
      const ready = both.map((peer) =>
        peer.line(/ is open/).then(
          () => 'open' as const,
          () => 'late' as const,
        ),
      );
      const ended = both.map((peer) => peer.exited.then(({ code }) => code));
      const fates = await Promise.all(both.map((_, at) => Promise.race([ready[at], ended[at]])));
      expect(fates.toSorted()).toEqual([10, 'open']);
      const loser = both[fates.indexOf(10)]!;
      const winner = both[fates.indexOf('open')]!;
      expect(loser.stderr).toMatch(
        `pid ${winner.pid}. Go there, close it (peer close), or choose another name.`,
      );
      expect(loser.stderr).toMatch(/^peer: Twin is (being opened|already open): [^\n]*\n$/);
      expect(rowOf(world, 'Twin')?.pid).toBe(winner.pid);
      await winner.stop();
    }
  });
});
