import { existsSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { anonymous, pinnedFrames } from './claude-fixture.ts';
import { ClaudeModel } from './claude-model.ts';
import { ClaudePane } from './claude-pane.ts';
import { lastUserText } from './claude-request.ts';
import { ClaudeSession } from './claude-session.ts';
import { ScriptPeer } from './script-peer.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';
import { Tmux } from './tmux.ts';

let world: World;
let model: ClaudeModel;
let sol: ScriptPeer;
let alpha: ClaudeSession;

beforeAll(async () => {
  world = openWorld();
  model = world.own(await ClaudeModel.start());
  sol = world.own(await ScriptPeer.spawn({ env: world.env, name: 'Sol' }));
  alpha = world.own(await startClaude('alpha'));
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

test('real Claude lists a scripted peer, sends it a message and is shown the marked answer', async () => {
  alpha.say('@@tool ListAgents {} @@tool SendMessage {"to":"Sol","message":"brief for Sol"} @@say sent');
  const brief = await sol.waitForMessage('brief for Sol');
  expect((await alpha.nextResult()).result).toBe('sent');
  const [list, sent] = model.toolResults(alpha.sessionId);
  expect(list?.text).toMatch(/^ {2}Sol \[[0-9a-f]{6}\] {2}·/m);
  expect(sent?.text).toContain('"success":true');

  await sol.reply(brief, 'the answer of Sol', { mark: { kind: 'answer', in_reply_to: brief.frame!.msg_id } });
  const shown = model.textsOf(await model.waitForText('the answer of Sol')).at(-1);
  expect(shown).toContain(
    `<cross-session-message from="${sol.address}" from-name="Sol" from-mode="prompting">`,
  );
  expect((await alpha.nextResult()).origin).toMatchObject({ verifiedPeerPid: sol.pid, verifiedLocal: true });
});

test('what real Claude writes to a socket is byte for byte what is pinned', async () => {
  const from = sol.received.length;
  const message = 'brief: "one" & <b>two</b> </cross-session-message> <agent-message> ünï\n\ttail';
  const input = JSON.stringify({ to: 'Sol', message, notify_when_idle: true });
  alpha.say(`@@tool SendMessage ${input} @@say sent`);
  const user = await sol.waitForMessage('brief: ', 10_000, from);
  const subscription = await sol.waitForFrame(
    ({ frame }) => frame?.action === 'notify_when_idle',
    10_000,
    from,
  );
  await alpha.nextResult();
  await sol.send({
    to: 'alpha',
    text: '@@tool SendMessage {"to":"Sol","message":"chained"} @@say sent',
    hopChain: [],
  });
  const chained = await sol.waitForMessage('chained');
  await alpha.nextResult();

  const auth = sol.received[sol.received.indexOf(user) - 1]!;
  expect(sol.bytesOf(user.connection).toString()).toBe(`${auth.raw}\n${user.raw}\n`);
  const { program: _program, measured: _measured, ...pinned } = pinnedFrames();
  expect({
    auth: anonymous(auth.raw),
    user: anonymous(user.raw),
    subscription: anonymous(subscription.raw),
    chained: anonymous(chained.raw),
  }).toEqual(pinned);
});

test('an idle notice of the peer that Claude subscribed to starts a turn', async () => {
  const subscription = await sol.waitForFrame(({ frame }) => frame?.action === 'notify_when_idle');
  await sol.control({
    to: 'alpha',
    fields: {
      action: 'peer_idle_notice',
      orig_msg_id: subscription.frame!.msg_id,
      state: 'idle',
      finished_at: Date.now(),
      detail: 'review done',
    },
  });
  const { messages } = await model.waitForText('[Cross-session idle notice] "Sol"');
  expect(lastUserText(messages)).toContain('review done');
  await alpha.nextResult();
});

test('a message that says bypass is held, and its sender told what the person decides', async () => {
  for (const [decision, receipt] of [
    ['deliver', 'delivered'],
    ['drop', 'denied'],
  ] as const) {
    const [from, seen] = [sol.received.length, alpha.events.length];
    const { msgId } = await sol.send({ to: 'alpha', text: `please ${decision} this`, fromMode: 'bypass' });
    await alpha.decideHeld(await alpha.waitForHeld('Sol', seen), decision);
    // In either order: each receipt has a connection of its own.
    for (const status of ['held', receipt]) {
      await sol.waitForFrame(({ frame }) => frame?.status === status, 10_000, from);
    }
    const told = sol.received.slice(from).filter(({ frame }) => frame?.orig_msg_id === msgId);
    expect(told).toHaveLength(2);
  }
  await alpha.nextResult();
});

test('a row that says spare is not listed, yet its process gets receipts and idle notices', async () => {
  await using spare = await ScriptPeer.spawn({ env: world.env, name: 'Spare', row: { spare: true } });
  await spare.control({ to: 'alpha', fields: { action: 'notify_when_idle' } });
  const notice = await spare.waitForFrame(({ frame }) => frame?.action === 'peer_idle_notice');
  expect(notice.frame).toMatchObject({ state: 'idle', detail: expect.any(String) });
  await spare.send({ to: 'alpha', text: 'hold this', fromMode: 'bypass' });
  await spare.waitForFrame(({ frame }) => frame?.status === 'held');
  await alpha.decideHeld(await alpha.waitForHeld('Spare'), 'drop');
  alpha.say('@@tool ListAgents {} @@say listed');
  await alpha.nextResult();
  const list = model.toolResults(alpha.sessionId).at(-1)?.text;
  expect(list).toContain('  Sol [');
  expect(list).not.toContain('Spare');
});

test('the model is scripted from the test: rules, held answers, errors', async () => {
  model.on(/^what is up/, '@@hold gate held answer', 1);
  alpha.say('what is up?');
  await model.waitForHeld('gate');
  expect(alpha.row?.status).toBe('busy');
  model.release('gate');
  expect((await alpha.nextResult()).result).toBe('held answer');
  alpha.say('what is up?');
  expect((await alpha.nextResult()).result).toBe('ok: what is up?');
  alpha.say('@@err 529');
  expect(await alpha.nextResult()).toMatchObject({ is_error: true, result: expect.stringContaining('529') });
  alpha.say('@@hang');
  await model.waitForText('@@hang');
  await alpha.interrupt();
  expect(await alpha.nextResult()).toMatchObject({ is_error: true });
  alpha.say('@@say back again');
  expect((await alpha.nextResult()).result).toBe('back again');
});

test('on a screen a message shows its first line', async () => {
  const tmux = world.own(new Tmux(world));
  const options = { env: world.env, modelUrl: model.url, name: 'gamma', cwd: world.work };
  await using gamma = await ClaudePane.start(options, (command) =>
    tmux.open({ ...command, cols: 100, rows: 30 }),
  );
  await gamma.say('@@say nice to meet you');
  await gamma.waitForScreen('nice to meet you');
  await sol.send({ to: 'gamma', text: 'look here\nand here' });
  await gamma.waitForScreen('Message from @Sol: look here');
});

test('a session that is closed takes its files away, one that is killed leaves them', async () => {
  const beta = await startClaude('beta');
  await beta.close();
  expect([beta.row, existsSync(beta.socketPath)]).toEqual([undefined, false]);
  const delta = await startClaude('delta');
  await delta.kill();
  expect([delta.row?.name, existsSync(delta.socketPath)]).toEqual(['delta', true]);
});

function startClaude(name: string): Promise<ClaudeSession> {
  return ClaudeSession.start({ env: world.env, modelUrl: model.url, name, cwd: world.work });
}
