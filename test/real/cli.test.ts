import { watch } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ClaudeModel } from './claude-model.ts';
import { lastUserText } from './claude-request.ts';
import type { ClaudeSession } from './claude-session.ts';
import { answered, ClaudeTalk, rowOf, untilStatus } from './claude-talk.ts';
import { final, script } from './model-script.ts';
import { type PeerResult, peerCommand, runPeer } from './peer-process.ts';
import { type Bench, openBench, openSol, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';
import { Tmux } from './tmux.ts';

let world: World;
let bench: Bench;
let sol: Sol;
let talk: ClaudeTalk;
let alpha: ClaudeSession;

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  sol = await openSol(bench, ['--model', 'gpt-scripted'], 'Sol');
  talk = new ClaudeTalk(world, world.own(await ClaudeModel.start()));
  alpha = await talk.start('alpha');
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

/** Runs `peer` in a shell that belongs to an agent of this name, so that its address is known beforehand. */
function peer(args: string[], agent = 'tester', input?: string): Promise<PeerResult> {
  return runPeer(args, { env: { ...world.env, AI_AGENT: agent }, ...(input !== undefined && { input }) });
}

test('list shows the real Codex peer and the real Claude Code session', async () => {
  const { stdout } = await peer(['list', '--json']);
  expect(JSON.parse(stdout)).toEqual([
    expect.objectContaining({ name: 'alpha', harness: 'claude', pid: alpha.pid, reachable: true }),
    expect.objectContaining({ name: 'Sol', harness: 'codex', status: 'idle', pid: sol.process.pid }),
  ]);
});

test('list is a table of 80 columns, with a command that waits for an answer among the peers', async () => {
  const asking = peer(['ask', 'Sol', `wait ${answered('table', 'done')}`]);
  await bench.model.held('table');
  const pane = await world.own(new Tmux(world)).open({ command: [...peerCommand, 'list'], cols: 80 });
  expect(await pane.exitStatus()).toBe(0);
  const lines = (await pane.capture()).trimEnd().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^NAME +HARNESS +STATUS +PID +MODEL +PLACE +CWD$/),
    expect.stringMatching(`^alpha +claude +idle +${alpha.pid} +- +- +\\S+$`),
    expect.stringMatching(/^command of tes\S* +cli +busy +\d+ +- +- +\S+$/),
    expect.stringMatching(`^Sol +codex +busy +${sol.process.pid} +gpt-scr\\S* +- +\\S*/work$`),
  ]);
  bench.model.release('table');
  expect((await asking).stdout).toBe('done\n');
});

test('send to a wrapped peer publishes nothing, so nothing can be sent back', async () => {
  const seen = new Set<string>();
  const watcher = watch(join(world.claudeDir, 'sessions'), (_, file) => seen.add(String(file)));
  const ended = await peer(['send', 'Sol', 'for your information']);
  const asked = await bench.model.waitForRequest(/for your information/);
  await untilStatus(world, 'Sol', 'idle');
  watcher.close();
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/^written to Sol \(id [0-9a-f]{8}\)\n$/);
  expect(asked.text).toMatch(/\nThey gave no address: nothing you write here can be sent back\.\n/);
  const pids = [...seen].map((file) => file.split('.').find((part) => /^\d+$/.test(part)));
  expect(new Set(pids)).toEqual(new Set([String(sol.process.pid)]));
});

test('close is refused for a real Claude Code session, which lives on', async () => {
  const ended = await peer(['close', 'alpha']);
  expect(ended).toMatchObject({ code: 4, stdout: '' });
  expect(ended.stderr).toMatch(
    `peer: alpha (pid ${alpha.pid}) is not a peer of ours but a session of its own.`,
  );
  expect(alpha.row?.status).toBe('idle');
});

test("ask prints the real Codex peer's answer and nothing else", async () => {
  const ended = await peer(['ask', 'Sol', `review this ${script([[final('looks good')]])}`]);
  expect(ended).toEqual({ code: 0, stdout: 'looks good\n', stderr: '' });
  expect(bench.model.requests.at(-1)?.text).toMatch(/^Message from the command line "command of tester" /);
});

test('ask prints what a real Claude Code session sends back', async () => {
  const reply = JSON.stringify({ to: 'command of replier', message: 'the answer of alpha' });
  const ended = await peer(['ask', 'alpha', `@@tool SendMessage ${reply} @@say sent`], 'replier');
  await alpha.nextResult();
  expect(ended).toEqual({ code: 0, stdout: 'the answer of alpha\n', stderr: '' });
});

test('ask ends with 6 when a real Claude Code session is idle again without having sent anything', async () => {
  const ended = await peer(['ask', 'alpha', '@@say only said, not sent']);
  await alpha.nextResult();
  expect(ended).toMatchObject({ code: 6, stdout: '' });
  expect(ended.stderr).toContain(
    'alpha is idle again and sent no answer. Its last words: only said, not sent',
  );
});

test('send to a real Claude Code session is written, and its model is shown who sent it', async () => {
  const isIts = ({ sessionId }: { readonly sessionId: string }) => sessionId === alpha.sessionId;
  const shown = talk.model.waitForRequest(isIts, 15_000, talk.model.requests.length);
  const ended = await peer(['send', 'alpha', 'for your information @@say noted']);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/^written to alpha \(id [0-9a-f]{8}\)\n$/);
  expect(lastUserText((await shown).messages)).toContain(' from-name="command of tester">\nfor your info');
  await alpha.nextResult();
});

test.each([
  ['hold', 5, 'held'],
  ['refuse', 4, 'refused'],
])('a real session that is set to %s messages ends ask and send with %i', async (setting, code, word) => {
  const settings = JSON.stringify({ crossSessionInbound: setting });
  await using session = await talk.start(`set-to-${setting}`, ['--settings', settings]);
  for (const verb of ['ask', 'send']) {
    const ended = await peer([verb, session.name, `${verb} something`]);
    expect(ended).toMatchObject({ code, stdout: '' });
    expect(ended.stderr).toContain(`${word} at ${session.name} (id `);
  }
});

test('a detached headless peer survives the command that opened it, until it is closed', async () => {
  const opened = await runPeer(['open', 'Luna', '--headless', '--detach'], {
    env: world.env,
    cwd: world.work,
  });
  expect(opened).toMatchObject({ code: 0, stderr: '' });
  expect(opened.stdout).toMatch(/^Luna is open/);
  const { pid } = rowOf(world, 'Luna');
  expect((await peer(['ask', 'Luna', `hello ${script([[final('from Luna')]])}`])).stdout).toBe('from Luna\n');
  expect(await peer(['close', 'luna'])).toEqual({ code: 0, stdout: 'Luna is closed\n', stderr: '' });
  expect(world.processes().map((process) => process.pid)).not.toContain(pid);
});

test('a real Codex peer that is closed while asked sends its note first', async () => {
  const asking = peer(['ask', 'Sol', `wait ${answered('never', 'too late')}`]);
  await bench.model.held('never');
  expect((await peer(['close', 'Sol'])).code).toBe(0);
  bench.model.release('never');
  const ended = await asking;
  expect(ended).toMatchObject({ code: 6, stdout: '' });
  expect(ended.stderr).toMatch(/^peer: \[no answer to [0-9a-f]{8}: closed\]/);
});
