import { afterAll, beforeAll, beforeEach, describe, expect, onTestFailed, test } from 'vitest';
import { openCodexThread } from '../../src/harness/codex.ts';
import type { CodexThreadOptions } from '../../src/harness/codex-options.ts';
import type { HarnessEvent, HarnessThread } from '../../src/harness/harness.ts';
import { CodexDaemon } from './codex-daemon.ts';
import { fillCodexHome } from './codex-home.ts';
import { CodexModel } from './codex-model.ts';
import { type CodexServer, openCodex } from './codex-server.ts';
import { commentary, final, type Rounds, type Step, script } from './model-script.ts';
import { codexBinary } from './programs.ts';
import type { RawClient } from './raw-client.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

/** A thread with all that it told. */
class Opened implements AsyncDisposable {
  readonly thread: HarnessThread;
  readonly events: HarnessEvent[] = [];

  constructor(thread: HarnessThread) {
    this.thread = thread;
    thread.listen((event) => this.events.push(event));
  }

  get types(): string[] {
    return this.events.map(({ type }) => type);
  }

  /** The `count`th event of this type. */
  async heard<T extends HarnessEvent['type']>(type: T, count = 1, timeout = 10_000) {
    const all = () => this.events.filter((event) => event.type === type);
    await expect.poll(() => all().length, { timeout, interval: 10 }).toBeGreaterThanOrEqual(count);
    return all()[count - 1] as Extract<HarnessEvent, { type: T }>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.thread.close();
  }
}

async function open(world: World, options: Partial<CodexThreadOptions> = {}): Promise<Opened> {
  const logged: unknown[] = [];
  onTestFailed(() => console.error(logged));
  const thread = await openCodexThread({
    codexHome: world.codexHome,
    codexPath: codexBinary(),
    env: world.env,
    clientVersion: '0.0.0',
    name: 'Sol',
    thread: { kind: 'start', cwd: world.work },
    asked: { sandbox: 'read-only', approval: 'never' },
    headless: true,
    log: { write: (event, fields) => logged.push({ event, ...fields }) },
    signal: new AbortController().signal,
    ...options,
  });
  return new Opened(thread);
}

const text = (words: string, rounds: Rounds) => `${words} ${script(rounds)}`;

describe('a Codex thread on a private server', () => {
  let world: World;
  let server: CodexServer;
  let model: CodexModel;
  let other: RawClient;

  beforeAll(async () => {
    world = openWorld();
    ({ model, server } = await openCodex(world));
    other = world.own(await server.client());
  });
  beforeEach(() => printWhenFailed(world));
  afterAll(() => world[Symbol.asyncDispose]());

  test('tells a whole turn in order and reads it back', async () => {
    await using sol = await open(world);
    sol.thread.start('peer:1', text('go', [[commentary('hm'), final('done')]]));
    await sol.heard('turn-ended');
    expect(sol.types).toEqual([
      ...['ready', 'start-accepted', 'status', 'turn-started', 'user-item', 'status', 'turn-ended'],
    ]);
    const [turn] = await sol.thread.readTurns(null);
    expect(turn).toMatchObject({ status: 'completed', rootTurnId: turn?.id, error: null });
    expect(turn?.items).toEqual([
      { type: 'user', clientId: 'peer:1' },
      { type: 'agent', text: 'hm', phase: 'commentary' },
      { type: 'agent', text: 'done', phase: 'final_answer' },
    ]);
  });

  test('is resumed with its history by the next open', async () => {
    let id: string;
    {
      await using sol = await open(world);
      id = sol.thread.id;
      sol.thread.start('peer:1', 'hello');
      await sol.heard('turn-ended');
    }
    await using again = await open(world, { thread: { kind: 'resume', id } });
    expect(again.events[0]).toMatchObject({ type: 'ready', newestTurn: { status: 'completed' } });
    expect(await again.thread.readTurns(null)).toHaveLength(1);
  });

  test('reads more items than one page holds', async () => {
    await using sol = await open(world);
    const many: Step[] = Array.from({ length: 120 }, (_, n) => commentary(`${n}`));
    sol.thread.start('peer:1', text('many', [[...many, final('done')]]));
    await sol.heard('turn-ended');
    const [turn] = await sol.thread.readTurns(null);
    expect(turn?.items).toHaveLength(122);
    expect(turn?.items.at(-1)).toMatchObject({ text: 'done' });
  });

  test('reads a legacy thread', async () => {
    const id = await other.startThread(world.work, { historyMode: 'legacy' });
    await using sol = await open(world, { thread: { kind: 'resume', id } });
    sol.thread.start('peer:1', 'hello');
    await sol.heard('turn-ended');
    const [turn] = await sol.thread.readTurns(null);
    expect(turn?.items).toMatchObject([{ clientId: 'peer:1' }, { text: 'echo: hello' }]);
  });

  test.each(['compact', 'review'])('cannot be steered while a %s runs', async (kind) => {
    await using sol = await open(world);
    const threadId = sol.thread.id;
    sol.thread.start('peer:1', 'hello');
    await sol.heard('turn-ended');
    model.on(/CHECKPOINT COMPACTION/, [[{ delayMs: 500 }, final('summary')]]);
    const target = { type: 'custom', instructions: text('look', [[{ delayMs: 500 }, final('x')]]) };
    await (kind === 'compact'
      ? other.call('thread/compact/start', { threadId })
      : other.call('review/start', { threadId, target }));
    sol.thread.start('peer:2', 'now');
    expect(await sol.heard('start-refused')).toMatchObject({ clientId: 'peer:2', refusal: 'not-steerable' });
    await sol.heard('turn-ended', 2);
    expect(sol.events.at(-2)).toEqual({ type: 'status', status: { type: 'idle' } });
    sol.thread.start('peer:2', 'now');
    expect(await sol.heard('start-accepted', 2)).toMatchObject({ clientId: 'peer:2' });
    await sol.heard('turn-ended', 3);
  });

  test('refuses for ever what is too long for Codex', async () => {
    await using sol = await open(world);
    sol.thread.start('peer:1', 'x'.repeat(1_048_577));
    expect(await sol.heard('start-refused')).toMatchObject({ refusal: 'never' });
  });

  test('has a word in passing told as commentary, though it calls itself final', async () => {
    const id = await other.startThread(world.work, {
      config: { features: { send_message_to_user_async: true } },
    });
    await using sol = await open(world, { thread: { kind: 'resume', id } });
    const call = { call: 'send_message_to_user_async', args: { message: 'half way' } };
    sol.thread.start('peer:1', text('go', [[call], [final('done')]]));
    await sol.heard('turn-ended');
    const [turn] = await sol.thread.readTurns(null);
    expect(turn?.items.slice(1)).toEqual([
      { type: 'agent', text: 'half way', phase: 'commentary' },
      { type: 'agent', text: 'done', phase: 'final_answer' },
    ]);
  });

  test('declines an approval when nobody is at it, and the turn goes on', async () => {
    await using sol = await open(world, { asked: { sandbox: 'read-only', approval: 'untrusted' } });
    const call = { call: 'exec_command', args: { cmd: `touch ${world.work}/made` } };
    sol.thread.start('peer:1', text('make', [[call], [final('could not')]]));
    await sol.heard('status', 2);
    expect(sol.events.at(-1)).toMatchObject({ status: { waitingFor: 'permission prompt' } });
    await sol.heard('turn-ended');
    const [turn] = await sol.thread.readTurns(null);
    expect(turn?.items.at(-1)).toMatchObject({ text: 'could not' });
  });

  test('tells a revert and reads the shorter history', async () => {
    await using sol = await open(world);
    sol.thread.start('peer:1', 'one');
    await sol.heard('turn-ended');
    sol.thread.start('peer:2', 'two');
    const { turnId } = await sol.heard('turn-ended', 2);
    await other.call('thread/revert', { threadId: sol.thread.id, beforeTurnId: turnId });
    await sol.heard('ready', 2);
    expect(sol.types.filter((type) => type === 'reverted')).toHaveLength(1);
    expect(await sol.thread.readTurns(turnId)).toEqual([]);
    expect(await sol.thread.readTurns(null)).toHaveLength(1);
  });

  test('is gone when it is archived', async () => {
    await using sol = await open(world);
    await other.call('thread/archive', { threadId: sol.thread.id });
    expect(await sol.heard('gone')).toMatchObject({ cause: 'its thread was archived in Codex' });
  });

  test('is loaded again after a delete that failed for its forks', async () => {
    await using sol = await open(world);
    sol.thread.start('peer:1', 'one');
    await sol.heard('turn-ended');
    await other.call('thread/fork', { threadId: sol.thread.id });
    const deletion = other.call('thread/delete', { threadId: sol.thread.id });
    await expect(deletion).rejects.toThrow(/forked history/);
    await sol.heard('ready', 2);
    sol.thread.start('peer:2', 'two');
    await sol.heard('turn-ended', 2);
  });

  test('without a turn, which another client loaded with wider rights, is narrowed before it is ready', async () => {
    const id = await other.startThread(world.work);
    await other.call('thread/archive', { threadId: id });
    await other.call('thread/unarchive', { threadId: id });
    const loaded = await other.call('thread/resume', { threadId: id, excludeTurns: true });
    expect(loaded).toMatchObject({ sandbox: { type: 'workspaceWrite' }, approvalPolicy: 'on-request' });

    await using sol = await open(world, { thread: { kind: 'resume', id } });
    const { settings } = await sol.heard('ready');
    expect(settings).toMatchObject({ sandbox: 'read-only', approval: 'never' });
    const read = await other.call('thread/resume', { threadId: id, excludeTurns: true });
    expect(read).toMatchObject({ sandbox: { type: 'readOnly' }, approvalPolicy: 'never' });
  });

  test('is repaired when a client widens its rights', async () => {
    await using sol = await open(world);
    const update = { threadId: sol.thread.id, sandboxPolicy: { type: 'dangerFullAccess' } };
    await other.call('thread/settings/update', update);
    const again = await sol.heard('ready', 2);
    expect(again.settings.sandbox).toBe('read-only');
    const { sandbox } = await other.call('thread/resume', { threadId: sol.thread.id, excludeTurns: true });
    expect(sandbox).toEqual({ type: 'readOnly', networkAccess: false });
  });
});

describe('a Codex thread on a daemon that restarts', () => {
  async function openDaemon(world: World) {
    const model = world.own(await CodexModel.start());
    await fillCodexHome(world, model, { packages: true });
    const daemon = world.own(await CodexDaemon.start(world));
    return { model, daemon };
  }

  test('comes back by itself, and the interrupted turn goes on as a recovery turn', async () => {
    await using world = openWorld();
    const { model, daemon } = await openDaemon(world);
    model.on(/daemon_recovery/, [[final('recovered')]]);
    await using sol = await open(world, {
      startDaemon: () => Promise.reject(new Error('nobody asked for it')),
    });
    sol.thread.start('peer:1', text('long', [[{ hold: 'for ever' }]]));
    await model.held('for ever');
    const { turnId } = await sol.heard('turn-started');

    const restarting = daemon.command('restart');
    await sol.heard('disconnected');
    const again = await sol.heard('ready', 2);
    expect(again.startedByUs).toBe(false);
    await restarting;

    const recovered = async () => (await sol.thread.readTurns(turnId)).at(-1);
    await expect.poll(recovered, { timeout: 10_000 }).toMatchObject({
      rootTurnId: turnId,
      status: 'completed',
      items: [{ text: 'recovered' }],
    });
    expect(sol.types.filter((type) => type === 'disconnected')).toHaveLength(1);
  });

  test('refuses a start during the drain, with the reason, and is ready afterwards', async () => {
    await using world = openWorld();
    const { model, daemon } = await openDaemon(world);
    model.on(/daemon_recovery/, [[final('recovered')]]);
    await using sol = await open(world);
    const other = world.own(await daemon.client());
    sol.thread.start('peer:1', text('long', [[{ hold: 'for ever' }]]));
    await model.held('for ever');
    const restarting = daemon.command('restart');
    const isDraining = () =>
      other.call('thread/start', { cwd: world.work }).then(...[() => false, () => true]);
    await expect.poll(isDraining, { interval: 20 }).toBe(true);
    sol.thread.start('peer:2', 'next');
    expect(await sol.heard('start-refused')).toMatchObject({ clientId: 'peer:2', refusal: 'draining' });
    expect(sol.events.at(-1)).toEqual({ type: 'waiting', waitingFor: 'daemon restart' });
    await sol.heard('ready', 2);
    await restarting;
  });

  test('is started again after a crash, and says that no turn will be recovered', async () => {
    await using world = openWorld();
    const { daemon } = await openDaemon(world);
    await using sol = await open(world);
    await daemon.kill();
    await sol.heard('disconnected');
    const begin = Date.now();
    const again = await sol.heard('ready', 2, 15_000);
    expect(again.startedByUs).toBe(true);
    expect(Date.now() - begin).toBeGreaterThan(2_500);
  });
});
