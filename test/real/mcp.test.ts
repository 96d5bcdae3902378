import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callControl } from '../../src/control/client.ts';
import { findControlSocket } from '../../src/control/place.ts';
import { CodexDaemon } from './codex-daemon.ts';
import { fillCodexHome } from './codex-home.ts';
import { CodexModel } from './codex-model.ts';
import { type Step, script } from './model-script.ts';
import { runPeer } from './peer-process.ts';
import { untilGone } from './processes.ts';
import type { RawClient } from './raw-client.ts';
import type { ScriptPeer } from './script-peer.ts';
import { bodyOf, openBench, openRawClient, openSender, openSol, replyTo, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

const peerScript = fileURLToPath(new URL('../../bin/peer.js', import.meta.url));

/** As docs/guide-mcp.md has it, with the folder of sessions that a world keeps elsewhere. */
function mcpTable(world: World): string {
  return `
[mcp_servers.peer]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(peerScript)}, "mcp"]
default_tools_approval_mode = "approve"
tool_timeout_sec = 86400
env = { CLAUDE_CONFIG_DIR = ${JSON.stringify(world.claudeDir)} }
`;
}

function mcpCall(call: string, args: object): Step {
  return { call, namespace: 'mcp__peer', args };
}

/** A brief that makes Sol's model write to beta through `peer mcp`; it answers with what the tool said. */
function relay(text: string): string {
  return `relay ${script([[mcpCall('send_message', { to: 'beta', text })]])}`;
}

function mcpPids(world: World): number[] {
  return world
    .processes()
    .filter(({ command }) => command.endsWith('peer.js mcp'))
    .map(({ pid }) => pid);
}

interface Stage {
  readonly world: World;
  readonly alpha: ScriptPeer;
  readonly beta: ScriptPeer;
}

/** Sends alpha's brief to Sol; beta gets the message from Sol's own socket, in Sol's envelope. */
async function expectRelayed({ world, alpha, beta }: Stage, sol: Sol, text: string): Promise<void> {
  const { msgId } = await alpha.send({ to: 'Sol', text: relay(text) });
  const frame = await beta.waitForMessage(text);
  const address = `uds:${world.runtimeDir}/cc-socks/${sol.process.pid}.sock`;
  expect(frame).toMatchObject({ authed: true, frame: { from: address, priority: 'next' } });
  const envelope = /^<cross-session-message from="([^"]*)" hop-chain="[0-9a-f,]+" from-name="([^"]*)"/;
  expect(envelope.exec(frame.content)?.slice(1)).toEqual([address, 'Sol']);
  expect(bodyOf(frame)).toBe(text);
  expect(await replyTo(alpha, msgId)).toMatchObject({ kind: 'answer' });
}

describe('a thread that was started without tools', () => {
  let stage: Stage & { readonly bench: Awaited<ReturnType<typeof openBench>> };
  let client: RawClient;
  let threadId: string;
  let sol: Sol;

  beforeAll(async () => {
    const world = openWorld();
    const bench = await openBench(world, { tables: mcpTable(world) });
    const [alpha, beta] = await Promise.all([openSender(bench, 'alpha'), openSender(bench, 'beta')]);
    stage = { world, bench, alpha, beta };
    // It stays subscribed, so that the peer finds the thread loaded by another client.
    client = await openRawClient(bench);
    threadId = await client.startThread(world.work);
    sol = await openSol(bench, ['--thread', threadId], 'Sol');
  });
  afterAll(() => stage.world[Symbol.asyncDispose]());
  beforeEach(() => printWhenFailed(stage.world));

  test('has peer mcp connected, and the peer says so when it opens and in every list', async () => {
    const { data } = await client.call('mcpServerStatus/list', { threadId, serverName: 'peer' });
    expect(data).toMatchObject([{ runtimeStatus: 'connected', serverInfo: { name: 'peer' } }]);
    expect(Object.keys(data[0].tools).sort()).toEqual(['ask', 'list_agents', 'send_message']);
    expect(sol.process.stdout).toContain('tools: peer mcp)');
    expect(sol.process.stderr).toBe('');
    const { stdout } = await runPeer(['list', '--json'], { env: stage.world.env });
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ name: 'Sol', tools: 'mcp' }));
  });

  test("sends in the peer's name, from the peer's own socket", () => expectRelayed(stage, sol, 'first word'));

  test('lists the others by the eyes of the peer', async () => {
    const brief = `who ${script([[mcpCall('list_agents', {})]])}`;
    const { msgId } = await stage.alpha.send({ to: 'Sol', text: brief });
    const { body } = await replyTo(stage.alpha, msgId);
    expect(body).toContain('You are Sol. You can message:');
    expect(body).toContain('- alpha (Claude session');
    expect(body).not.toContain('- Sol');
  });

  test('asks, and the answer is the result of the call', async () => {
    const { alpha, beta } = stage;
    const rounds = [[mcpCall('ask', { to: 'beta', text: 'which colour?' })]];
    const { msgId } = await alpha.send({ to: 'Sol', text: `find out ${script(rounds)}` });
    await beta.reply(await beta.waitForMessage('which colour?'), 'blue, of course');
    expect((await replyTo(alpha, msgId)).body).toContain('blue, of course');
  });

  test('a question whose turn is interrupted is given up: the answer is a message like any other', async () => {
    const { beta, bench } = stage;
    const rounds = [[mcpCall('ask', { to: 'beta', text: 'still there?' })]];
    const turnId = await client.startTurn(threadId, `ask ${script(rounds)}`);
    const asked = await beta.waitForMessage('still there?');
    await client.call('turn/interrupt', { threadId, turnId });
    await client.turnEnd(turnId);
    await beta.reply(asked, 'yes, here');
    expect((await bench.model.waitForRequest(/yes, here/)).text).toMatch(
      /^Message from Claude session "beta"/,
    );
  });

  test('after the peer is closed a call says how to open it, and after it is opened again the same server sends', async () => {
    const pids = mcpPids(stage.world);
    expect(pids).toHaveLength(1);
    await sol.process.stop();
    await client.turnEnd(await client.startTurn(threadId, relay('to nobody')));
    const output = JSON.stringify(stage.bench.model.requests.at(-1)?.input.at(-1));
    expect(output).toContain(`peer open <Name> --thread ${threadId}`);
    sol = await openSol(stage.bench, ['--thread', threadId], 'Sol');
    await expectRelayed(stage, sol, 'second word');
    expect(mcpPids(stage.world)).toEqual(pids);
    expect(stage.beta.messages.some((frame) => frame.content.includes('to nobody'))).toBe(false);
  });

  test('after a restart of the server, where another client loads the thread first', async () => {
    const pids = mcpPids(stage.world);
    await sol.process.stop();
    await stage.bench.server.restart();
    client = await openRawClient(stage.bench);
    await client.call('thread/resume', { threadId, excludeTurns: true });
    sol = await openSol(stage.bench, ['--thread', threadId], 'Sol');
    await expectRelayed(stage, sol, 'third word');
    expect(mcpPids(stage.world)).toHaveLength(1);
    expect(mcpPids(stage.world)).not.toEqual(pids);
  });

  test('the control socket tells how the peer is, and goes with it', async () => {
    const { pid } = sol.process;
    const socketPath = findControlSocket(pid) ?? '';
    const ask = () =>
      callControl({ socketPath, method: 'status', params: {}, signal: AbortSignal.timeout(5_000) });
    expect(await ask()).toEqual({
      name: 'Sol',
      threadId,
      state: 'serving',
      queued: 0,
      claims: 0,
      refused: 0,
    });
    await sol.process.stop();
    expect(findControlSocket(pid)).toBeNull();
  });

  test('what a killed peer leaves of it is removed when another one opens', async () => {
    const killed = await openSol(stage.bench, ['--thread', threadId], 'Sol');
    await killed.process.stop('SIGKILL');
    expect(findControlSocket(killed.process.pid)).not.toBeNull();
    sol = await openSol(stage.bench, ['--thread', threadId], 'Sol');
    expect(findControlSocket(killed.process.pid)).toBeNull();
  });

  test('the server ends with the daemon', async () => {
    const [pid = 0] = mcpPids(stage.world);
    await stage.bench.server.kill();
    expect(await untilGone(pid, 3_000)).toBe(true);
  });
});

test('a thread that has neither is opened, and told what to do about it', async () => {
  await using world = openWorld();
  const bench = await openBench(world);
  const client = await openRawClient(bench);
  const sol = await openSol(bench, ['--thread', await client.startThread(world.work)], 'Sol');
  expect(sol.process.stdout).toContain('tools: none)');
  expect(sol.process.stderr).toContain('peer open Sol --new');
  const args = ['open', 'Mars', '--headless', '--detach', '--thread', await client.startThread(world.work)];
  const detached = await runPeer(args, { env: world.env, cwd: world.work });
  expect(detached).toMatchObject({ code: 0, stderr: expect.stringMatching(/^peer: Mars can answer but/) });
  expect(detached.stdout).toMatch(/^Mars is open, in the background .*tools: none\)/);
  const fresh = await openSol(bench, [], 'Luna');
  expect(fresh.process.stdout).toContain("tools: the thread's own)");
  expect(fresh.process.stderr).toBe('');
});

test('a restart of the real daemon, which loads its threads by itself, brings peer mcp back', async () => {
  await using world = openWorld();
  const model = world.own(await CodexModel.start());
  await fillCodexHome(world, model, { packages: true, tables: mcpTable(world) });
  const daemon = world.own(await CodexDaemon.start(world));
  const [alpha, beta] = await Promise.all([openSender({ world }, 'alpha'), openSender({ world }, 'beta')]);
  const client = world.own(await daemon.client());
  const threadId = await client.startThread(world.work);
  const sol = await openSol({ world }, ['--thread', threadId], 'Sol');
  await expectRelayed({ world, alpha, beta }, sol, 'before');
  await daemon.command('restart');
  await expectRelayed({ world, alpha, beta }, sol, 'after');
});
