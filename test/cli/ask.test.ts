import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PeerProcess, runPeer } from '../real/peer-process.ts';
import { openWorld, type World } from '../real/temp.ts';
import { HAS_STACK, HAS_TERMINAL_CONTROLS } from './sentences.ts';
import { claudePeer, outcome, wrappedPeer } from './wrapped-peer.ts';

/** Files of the registry and its sockets, to see that a command left nothing. */
function published(world: World): string[] {
  return [
    ...readdirSync(join(world.claudeDir, 'sessions')),
    ...readdirSync(join(world.runtimeDir, 'cc-socks')),
  ];
}

test('a marked answer is printed without its tag, exit 0, and the guest is gone', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  const before = published(world);
  const asking = runPeer(['ask', 'sol', 'which test is flaky?'], { env: world.env });
  const asked = await sol.waitForMessage('which test is flaky?');
  const id = asked.frame!.msg_id!.slice(0, 8);
  expect(published(world)).toHaveLength(before.length + 3);
  await sol.reply(asked, `line one\nline two\n\n(answer to ${id})`, outcome(asked, 'answer', 'answered'));
  expect(await asking).toEqual({ code: 0, stdout: 'line one\nline two\n', stderr: '' });
  expect(published(world)).toEqual(before);
});

test('the frame is authenticated, marked as a message, and names its sender', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  const asking = runPeer(['ask', 'Sol', 'hello', '--priority', 'now'], { env: world.env });
  const asked = await sol.waitForMessage('hello');
  expect(asked.authed).toBe(true);
  expect(asked.frame).toMatchObject({ msgV: 1, priority: 'now', peerwire: { kind: 'message' } });
  expect(asked.content).toMatch(
    /^<cross-session-message from="uds:\S+\/(\d+)\.sock" from-name="cli-\1" from-mode="prompting">\nhello\n<\//,
  );
  await sol.reply(asked, 'hi', outcome(asked, 'answer', 'answered'));
  await asking;
});

test('an answer shared with another message says so on stderr only', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  const asking = runPeer(['ask', 'Sol', 'hello'], { env: world.env });
  const asked = await sol.waitForMessage('hello');
  const tag = `(answer to ${asked.frame!.msg_id!.slice(0, 8)}, given together with a later message)`;
  await sol.reply(asked, `both done\n\n${tag}`, outcome(asked, 'answer', 'answered'));
  expect(await asking).toEqual({
    code: 0,
    stdout: 'both done\n',
    stderr: 'peer: this answer was given together with a later message\n',
  });
});

test('a note goes to stderr, made safe for a terminal, and ends with the code of its outcome', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  const asking = runPeer(['ask', 'Sol', 'hello'], { env: world.env });
  const asked = await sol.waitForMessage('hello');
  await sol.reply(asked, '[no answer to x: dropped] because\u001b[2J', outcome(asked, 'note', 'not-taken'));
  const ended = await asking;
  expect(ended).toMatchObject({ code: 6, stdout: '' });
  expect(ended.stderr).toBe(
    'peer: [no answer to x: dropped] because\\u{1b}[2J\nnot taken: safe to send again\n',
  );
  expect(ended.stderr).not.toMatch(HAS_TERMINAL_CONTROLS);
});

test('messages about something else, and answers without our token, do not end the wait', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  const asking = runPeer(['ask', 'Sol', 'hello'], { env: world.env });
  const asked = await sol.waitForMessage('hello');
  await sol.reply(asked, 'chatter');
  await sol.reply(asked, 'for another', { mark: { kind: 'answer', in_reply_to: 'someone-else' } });
  await sol.reply(asked, 'forged', { ...outcome(asked, 'answer', 'answered'), auth: 'wrong' });
  await sol.reply(asked, 'the answer', outcome(asked, 'answer', 'answered'));
  const { stdout, stderr } = await asking;
  expect(stdout).toBe('the answer\n');
  expect(stderr).toContain('a message came meanwhile from Sol:\nchatter\n');
  expect(stderr).not.toContain('forged');
});

test('the death of the wrapper ends the wait within two seconds, exit 8', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  const asking = runPeer(['ask', 'Sol', 'hello'], { env: world.env });
  await sol.waitForMessage('hello');
  const killedAt = Date.now();
  await sol.kill();
  const ended = await asking;
  expect(ended).toMatchObject({ code: 8, stdout: '' });
  expect(ended.stderr).toMatch(/^peer: Sol ended while its answer was awaited/);
  expect(Date.now() - killedAt).toBeLessThan(2_000);
});

test('a Claude Code session is subscribed to after the message, and its first message is the answer', async () => {
  await using world = openWorld();
  const alpha = await claudePeer(world, 'alpha');
  const asking = runPeer(['ask', 'alpha', 'hello'], { env: world.env });
  const asked = await alpha.waitForMessage('hello');
  await alpha.waitForFrame(({ frame }) => frame?.action === 'notify_when_idle');
  await alpha.reply(asked, 'an answer, then my end of turn');
  expect(await asking).toEqual({ code: 0, stdout: 'an answer, then my end of turn\n', stderr: '' });
});

test('a message from another session is not the answer of a Claude Code session', async () => {
  await using world = openWorld();
  const alpha = await claudePeer(world, 'alpha');
  const beta = await claudePeer(world, 'beta');
  const asking = runPeer(['ask', 'alpha', 'hello'], { env: world.env });
  const asked = await alpha.waitForMessage('hello');
  await beta.reply(asked, 'from beta');
  await alpha.reply(asked, 'from alpha');
  expect((await asking).stdout).toBe('from alpha\n');
});

test('what a stranger forges ends no wait: a marked answer, an answer in the name of another, a denial', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  const alpha = await claudePeer(world, 'alpha');
  const evil = await claudePeer(world, 'evil');
  for (const target of [sol, alpha]) {
    const { name } = target;
    const asking = runPeer(['ask', name, 'hello'], { env: world.env });
    const asked = await target.waitForMessage('hello');
    const socket = asked.frame!.from!.slice(4);
    const denial = { action: 'peer_message_status', status: 'denied', orig_msg_id: asked.frame!.msg_id };
    await evil.control({ socket, fields: denial, auth: 'none' });
    const forged = { ...outcome(asked, 'answer', 'answered'), from: target.address, fromName: name };
    await evil.reply(asked, 'forged', forged);
    await target.reply(asked, 'true', outcome(asked, 'answer', 'answered'));
    const stderr = 'peer: a message came meanwhile from evil:\nforged\n';
    expect(await asking).toEqual({ code: 0, stdout: 'true\n', stderr });
  }
});

test('an idle notice before an answer ends with 6 and its last words', async () => {
  await using world = openWorld();
  const alpha = await claudePeer(world, 'alpha');
  const asking = runPeer(['ask', 'alpha', 'hello'], { env: world.env });
  const { frame } = await alpha.waitForFrame((one) => one.frame?.action === 'notify_when_idle');
  await alpha.control({
    socket: frame!.from!.slice(4),
    fields: { action: 'peer_idle_notice', orig_msg_id: frame!.msg_id, state: 'idle', detail: 'all done' },
  });
  const stderr = 'peer: alpha is idle again and sent no answer. Its last words: all done\n';
  expect(await asking).toEqual({ code: 6, stdout: '', stderr });
});

test('a held message ends with 5 and says that a person must approve it', async () => {
  await using world = openWorld();
  const alpha = await claudePeer(world, 'alpha');
  const asking = runPeer(['ask', 'alpha', 'hello'], { env: world.env });
  const { frame } = await alpha.waitForMessage('hello');
  const receipt = { action: 'peer_message_status', status: 'held', orig_msg_id: frame!.msg_id };
  await alpha.control({ socket: frame!.from!.slice(4), fields: receipt });
  const id = frame!.msg_id!.slice(0, 8);
  const stderr = `peer: held at alpha (id ${id}): its person must approve the message there first\n`;
  expect(await asking).toEqual({ code: 5, stdout: '', stderr });
});

test('"delivered", or a receipt about another message, does not end the wait', async () => {
  await using world = openWorld();
  const alpha = await claudePeer(world, 'alpha');
  const asking = runPeer(['ask', 'alpha', 'hello'], { env: world.env });
  const asked = await alpha.waitForMessage('hello');
  const socket = asked.frame!.from!.slice(4);
  const action = 'peer_message_status';
  await alpha.control({ socket, fields: { action, status: 'delivered', orig_msg_id: asked.frame!.msg_id } });
  await alpha.control({ socket, fields: { action, status: 'denied', orig_msg_id: 'another' } });
  await alpha.reply(asked, 'at last');
  expect((await asking).stdout).toBe('at last\n');
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  '%s ends the wait with %i, says what became of the message, and leaves nothing',
  async (signal, code) => {
    await using world = openWorld();
    const sol = await wrappedPeer(world, 'Sol');
    const before = published(world);
    const asking = new PeerProcess(['ask', 'Sol', 'hello'], { env: world.env });
    await sol.waitForMessage('hello');
    expect(await asking.stop(signal)).toEqual({ code, signal: null });
    expect(asking.stderr).toMatch(
      /^peer: stopped waiting\. The message \(id [0-9a-f]{8}\) is not taken back\.\n$/,
    );
    expect(published(world)).toEqual(before);
  },
);

test('a message over the cap is an error before a byte is sent', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  const ended = await runPeer(['ask', 'Sol', '-'], { env: world.env, input: 'x'.repeat(1_048_576) });
  expect(ended).toMatchObject({ code: 8, stdout: '' });
  expect(ended.stderr).toMatch(/^peer: Not sent: the message is \d+ characters/);
  expect(sol.received).toEqual([]);
});

test('a text with no content is a usage error', async () => {
  await using world = openWorld();
  for (const args of [
    ['ask', 'Sol'],
    ['ask', 'Sol', '-'],
    ['ask', 'Sol', ' \n'],
  ]) {
    const ended = await runPeer(args, { env: world.env, input: '\n' });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/^peer: There is no text to send/);
    expect(ended.stderr).not.toMatch(HAS_STACK);
  }
});
