import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { peerCommand, runPeer } from '../real/peer-process.ts';
import { ScriptPeer } from '../real/script-peer.ts';
import { openWorld } from '../real/temp.ts';
import { HAS_STACK, HAS_TERMINAL_CONTROLS } from './sentences.ts';
import { claudePeer, wrappedPeer } from './wrapped-peer.ts';

test('to a wrapped peer nothing is published and no answer address is given', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  const published = readdirSync(join(world.claudeDir, 'sessions'));
  const ended = await runPeer(['send', 'sol', 'the build is green'], { env: world.env });
  const sent = await sol.waitForMessage('the build is green');
  const id = sent.frame!.msg_id!.slice(0, 8);
  expect(ended).toEqual({ code: 0, stdout: `written to Sol (id ${id})\n`, stderr: '' });
  expect(sent.frame).not.toHaveProperty('from');
  expect(sent.content).toMatch(/^<cross-session-message from-name="cli-\d+" from-mode="prompting">\n/);
  expect(sol.events.filter((event) => event.type === 'open')).toHaveLength(2);
  expect(readdirSync(join(world.claudeDir, 'sessions'))).toEqual(published);
});

test('to a Claude Code session the command can be answered until a receipt would have come', async () => {
  await using world = openWorld();
  const alpha = await claudePeer(world, 'alpha');
  const sending = runPeer(['send', 'alpha', 'hello'], { env: world.env });
  const sent = await alpha.waitForMessage('hello');
  expect(sent.frame!.from).toMatch(/^uds:.*\/cc-socks\/\d+\.sock$/);
  expect(readdirSync(join(world.runtimeDir, 'cc-socks'))).toHaveLength(2);
  expect(await sending).toMatchObject({ code: 0, stdout: expect.stringMatching(/^written to alpha \(id /) });
  expect(readdirSync(join(world.runtimeDir, 'cc-socks'))).toHaveLength(1);
});

test('a receipt that the message is held is told and ends with 5', async () => {
  await using world = openWorld();
  const alpha = await claudePeer(world, 'alpha');
  const sending = runPeer(['send', 'alpha', 'hello'], { env: world.env });
  const { frame } = await alpha.waitForMessage('hello');
  const receipt = { action: 'peer_message_status', status: 'held', orig_msg_id: frame!.msg_id };
  await alpha.control({ socket: frame!.from!.slice(4), fields: receipt });
  const ended = await sending;
  expect(ended).toMatchObject({ code: 5, stdout: '' });
  expect(ended.stderr).toMatch(/^peer: held at alpha/);
});

test('a pipe beside a text is put below it', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  const script = 'printf "a diff\\n" | "$@"';
  await execa('sh', ['-c', script, 'sh', ...peerCommand, 'send', 'Sol', 'review this'], { env: world.env });
  expect((await sol.waitForMessage('review this')).body).toBe('review this\n\na diff');
});

test('stdin is the text where there is none, or a dash', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  await runPeer(['send', 'Sol'], { env: world.env, input: 'line one\nline two\n' });
  expect((await sol.waitForMessage('line one')).body).toBe('line one\nline two');
  await runPeer(['send', 'Sol', '-'], { env: world.env, input: '  by a dash' });
  expect((await sol.waitForMessage('by a dash')).body).toBe('  by a dash');
});

test('a peer without a key file is written to without a token', async () => {
  await using world = openWorld();
  const options = { env: world.env, name: 'Open', key: false, row: { bridge: 'peerwire' } };
  const open = world.own(await ScriptPeer.spawn(options));
  expect((await runPeer(['send', 'Open', 'hi'], { env: world.env })).code).toBe(0);
  expect((await open.waitForMessage('hi')).authed).toBe(false);
});

test("inside an agent's shell the sender is shown as a command of that session", async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol', { sessionId: 'thread-1' });
  const env = { ...world.env, CODEX_THREAD_ID: 'thread-1' };
  await runPeer(['send', 'Sol', 'to myself'], { env });
  const { content } = await sol.waitForMessage('to myself');
  expect(content).toMatch(/^<cross-session-message from-name="command of Sol">\n/);
});

test('an unknown name names the near ones and exits 3', async () => {
  await using world = openWorld();
  await wrappedPeer(world, 'Sol');
  const ended = await runPeer(['send', 'Soll', 'hi'], { env: world.env });
  expect(ended).toMatchObject({ code: 3, stdout: '' });
  expect(ended.stderr).toMatch(/^peer: No peer named "Soll".*"Sol"/);
});

test('two peers of one name are an error that lists both, and a pid picks one', async () => {
  await using world = openWorld();
  const first = await wrappedPeer(world, 'Sol');
  const second = await wrappedPeer(world, 'SOL');
  const ended = await runPeer(['send', 'sol', 'hi'], { env: world.env });
  expect(ended.code).toBe(3);
  for (const { pid } of [first, second]) expect(ended.stderr).toContain(String(pid));
  expect((await runPeer(['send', String(second.pid), 'to you'], { env: world.env })).code).toBe(0);
  await second.waitForMessage('to you');
  expect(first.messages).toEqual([]);
});

test('a hostile name is shown as text and nothing of it is run', async () => {
  await using world = openWorld();
  for (const name of ['#(touch x)', '\u001b]0;t\u0007', '$(touch x)', '"; touch x; "', '--', '../../etc']) {
    for (const verb of ['send', 'ask']) {
      const ended = await runPeer([verb, '--', name, 'hi'], { env: world.env, cwd: world.work });
      expect(ended).toMatchObject({ code: 3, stdout: '' });
      expect(ended.stderr).toMatch(/^peer: /);
      expect(ended.stderr).not.toMatch(HAS_STACK);
      expect(ended.stderr).not.toMatch(HAS_TERMINAL_CONTROLS);
    }
  }
  expect(readdirSync(world.work)).toEqual(['.git']);
});

test('a stopped peer is not written to, exit 8', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  process.kill(sol.pid, 'SIGSTOP');
  const ended = await runPeer(['send', 'Sol', 'hi'], { env: world.env });
  process.kill(sol.pid, 'SIGCONT');
  expect(ended).toMatchObject({ code: 8, stdout: '' });
  expect(ended.stderr).toMatch(/^peer: Not sent: Sol \(pid \d+.*\) takes no connections/);
});

test('a receiver that never hangs up may have the message: exit 7, named, never its socket', async () => {
  await using world = openWorld();
  const options = { env: world.env, name: 'Mute', hangUp: 'never', row: { bridge: 'peerwire' } } as const;
  world.own(await ScriptPeer.spawn(options));
  const ended = await runPeer(['send', 'Mute', 'hi'], { env: world.env });
  expect(ended).toMatchObject({ code: 7, stdout: '' });
  expect(ended.stderr).toContain('Mute');
  expect(ended.stderr).toContain('Sending it again may double it');
  expect(ended.stderr).not.toContain('.sock');
});

test('a command that waits for an answer cannot be sent to', async () => {
  await using world = openWorld();
  await claudePeer(world, 'cli-12', { entrypoint: 'peer-cli', bridge: 'peerwire' });
  const ended = await runPeer(['send', 'cli-12', 'hi'], { env: world.env });
  expect(ended).toMatchObject({ code: 4, stdout: '' });
});
