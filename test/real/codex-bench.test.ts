import { spawn } from 'node:child_process';
import { existsSync, readlinkSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { CodexDaemon } from './codex-daemon.ts';
import { fillCodexHome } from './codex-home.ts';
import { CodexModel } from './codex-model.ts';
import { openCodex } from './codex-server.ts';
import { commentary, final, type Rounds, script } from './model-script.ts';
import { runPeer, startPeer } from './peer-process.ts';
import { untilGone } from './processes.ts';
import { codexBinary } from './programs.ts';
import type { RawClient } from './raw-client.ts';
import { openWorld, printWhenFailed, World } from './temp.ts';
import { Tmux } from './tmux.ts';

describe('the scripted model on a private server', () => {
  let world: World;
  let model: CodexModel;
  let client: RawClient;
  let thread: string;

  beforeAll(async () => {
    world = openWorld();
    const codex = await openCodex(world);
    model = codex.model;
    client = world.own(await codex.server.client());
    const tool = {
      type: 'function',
      name: 'look_up',
      description: 'looks up',
      inputSchema: { type: 'object' },
    };
    thread = await client.startThread(world.work, { dynamicTools: [tool] });
  });
  beforeEach(() => printWhenFailed(world));
  afterAll(() => world[Symbol.asyncDispose]());

  const turnOn = async (text: string) => client.turnEnd(await client.startTurn(thread, text));
  const turnWith = (text: string, rounds: Rounds) => turnOn(`${text} ${script(rounds)}`);

  test('a message is answered by the script at its end', async () => {
    const turn = await turnWith('review', [[commentary('looking'), final('looks fine')]]);
    expect(turn).toMatchObject({ status: 'completed', items: [{ text: 'looks fine' }] });
    expect(await model.waitForRequest(/^review/)).toMatchObject({ round: 0, end: 'answered' });
  });

  test('a message without a script is answered by the newest rule that matches, else with its echo', async () => {
    model.on(/colour/, [[final('red')]]);
    model.on(/colour/, [[final('blue')]]);
    expect((await turnOn('which colour')).items[0].text).toBe('blue');
    expect((await turnOn('hello')).items[0].text).toBe('echo: hello');
  });

  test('a tool call is answered by the client, and the next round follows', async () => {
    const ended = turnWith('look', [[{ call: 'look_up', args: { key: 'k' } }], [final('found')]]);
    const request = await client.wait('item/tool/call');
    expect(request.params).toMatchObject({ tool: 'look_up', arguments: { key: 'k' } });
    client.reply(request, { contentItems: [{ type: 'inputText', text: 'here' }], success: true });
    expect((await ended).items[0].text).toBe('found');
  });

  test('a steer hangs up on a held request, and the next request has its text', async () => {
    const turnId = await client.startTurn(thread, `first ${script([[{ hold: 'gate' }, final('never')]])}`);
    await model.held('gate');
    expect(await client.startTurn(thread, 'second')).toBe(turnId);
    const turn = await client.turnEnd(turnId);
    expect(turn.items[0].text).toBe('echo: second');
    expect((await model.waitForRequest(/^first/)).end).toBe('hung-up');
  });

  test('a held request goes on when it is released', async () => {
    const ended = turnWith('wait', [[{ hold: 'other' }, final('went on')]]);
    await model.held('other');
    model.release('other');
    expect((await ended).items[0].text).toBe('went on');
  });

  test.each([
    [
      'a usage limit',
      { status: 429, body: { error: { type: 'usage_limit_reached', resets_at: 1 } } },
      'usageLimitExceeded',
    ],
    ['a cut stream', { cut: true }, 'other'],
    [
      'a context that is too long',
      { failed: { code: 'context_length_exceeded', message: 'long' } },
      'contextWindowExceeded',
    ],
  ] as const)('%s fails the turn', async (name, step, codexErrorInfo) => {
    const turn = await turnWith(name, [['cut' in step ? commentary('so far') : { delayMs: 10 }, step]]);
    expect(turn).toMatchObject({ status: 'failed', error: { codexErrorInfo } });
  });
});

test('a turn that a restart of the daemon interrupts is continued by a recovery turn', async () => {
  await using world = openWorld();
  const model = world.own(await CodexModel.start());
  await fillCodexHome(world, model, { packages: true });
  const daemon = world.own(await CodexDaemon.start(world));
  model.on(/daemon_recovery/, [[final('recovered')]]);
  const before = world.own(await daemon.client());
  const thread = await before.startThread(world.work);
  const interrupted = await before.startTurn(thread, `long ${script([[{ hold: 'for ever' }]])}`);
  await model.held('for ever');

  expect(await daemon.command('restart')).toMatchObject({ status: 'restarted' });
  await before.closed;

  await model.waitForRequest(/daemon_recovery/);
  const after = world.own(await daemon.client());
  await after.call('thread/resume', { threadId: thread, excludeTurns: true });
  await expect
    .poll(async () => (await after.turns(thread))[0], { timeout: 5_000 })
    .toMatchObject({
      rootTurnId: interrupted,
      status: 'completed',
      items: [{ text: 'recovered' }],
    });
});

test('the real TUI shows the turns of its thread, and a typed line is a turn of its own', async () => {
  await using world = openWorld();
  const { model, server } = await openCodex(world);
  const client = world.own(await server.client());
  const thread = await client.startThread(world.work);
  const tmux = world.own(new Tmux(world));
  const remote = ['--remote', `unix://${server.socketPath}`, '-C', world.work];
  const pane = await tmux.open({
    command: [codexBinary(), ...remote, 'resume', thread],
    cols: 100,
    rows: 30,
  });
  await pane.waitFor(/›/);

  await client.startTurn(thread, `from outside ${script([[final('seen in the pane')]])}`);
  await pane.waitFor(/^• seen in the pane/m);
  await pane.enter('typed here');
  await pane.waitFor(/echo: typed here/);

  expect((await model.waitForRequest(/^typed here$/)).end).toBe('answered');
  await pane.enter('/quit');
  expect(await pane.exitStatus()).toBe(0);
});

test('the built peer runs with the environment of the world and its input', async () => {
  await using world = openWorld();
  expect(await runPeer(['version'], world)).toMatchObject({ code: 0, stderr: '' });
});

test('a peer that ends before it is ready is an error with all it printed', async () => {
  await using world = openWorld();
  await expect(startPeer(['version'], { env: world.env, ready: /never said/ })).rejects.toThrow(
    /ended \(0\).*\d\.\d/s,
  );
});

test('the end of a world ends every process that it started and leaves no file', async () => {
  const world = new World();
  const { server } = await openCodex(world, { packages: true });
  await server.kill();
  await CodexDaemon.start(world);
  const sleeper = spawn('sleep', ['600'], { env: world.env, stdio: 'ignore' });
  await expect.poll(() => world.processes().length).toBe(3);
  const listening = readlinkSync(server.socketPath);
  const pids = world.processes().map(({ pid }) => pid);
  expect(pids).toContain(sleeper.pid);

  await world[Symbol.asyncDispose]();

  expect(await Promise.all(pids.map((pid) => untilGone(pid, 0)))).toEqual([true, true, true]);
  expect([world.root, listening, `${listening}.lock`].filter(existsSync)).toEqual([]);
});
