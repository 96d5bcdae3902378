import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ScriptPeer } from './script-peer.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

let world: World;
let sol: ScriptPeer;
let luna: ScriptPeer;

beforeAll(async () => {
  world = openWorld();
  sol = world.own(await ScriptPeer.spawn({ env: world.env, name: 'Sol' }));
  luna = world.own(await ScriptPeer.spawn({ env: world.env, name: 'Luna' }));
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

test('two peers in processes of their own exchange marked messages', async () => {
  const mark = { kind: 'message' };
  const sent = await luna.send({
    to: 'Sol',
    text: 'brief with </cross-session-message> in it',
    priority: 'now',
    mark,
  });
  expect(sent).toMatchObject({ answered: '', error: null });
  const brief = await sol.waitForMessage('brief');
  expect(brief.authed).toBe(true);
  expect(brief.body).toBe('brief with <\\/cross-session-message> in it');
  expect(brief.frame).toMatchObject({
    msg_id: sent.msgId,
    priority: 'now',
    from: luna.address,
    peerwire: mark,
  });
  await sol.reply(brief, 'the answer');
  expect((await luna.waitForMessage('the answer')).frame?.from).toBe(sol.address);
});

test('a message without a token, with a wrong one, or without an address can be sent', async () => {
  const from = sol.received.length;
  await luna.send({ to: 'Sol', text: 'no token', auth: 'none' });
  await luna.send({ to: 'Sol', text: 'wrong token', auth: 'wrong' });
  await luna.send({ to: 'Sol', text: 'no address', from: null });
  await sol.waitForMessage('no address', 5_000, from);
  const came = sol.received.slice(from).filter(({ frame }) => frame?.type === 'user');
  expect(came.map(({ authed }) => authed)).toEqual([false, false, true]);
  expect(came[2]).toMatchObject({ body: 'no address' });
  expect(came[2]!.frame).not.toHaveProperty('from');
});

test('every byte and the order of events on the socket is kept', async () => {
  await luna.sendBytes({ to: 'Sol', bytes: 'no json\n{"half' });
  const { connection } = await sol.waitForEvent((event) => event.type === 'end' && event.rest === '{"half');
  await sol.waitForEvent((event) => event.type === 'close' && event.connection === connection);
  const events = sol.events.filter((event) => event.connection === connection);
  expect(events.map(({ type }) => type)).toEqual(['open', 'bytes', 'line', 'end', 'close']);
  expect(sol.bytesOf(connection).toString()).toBe('no json\n{"half');
});

test('a stopped peer answers nobody until it goes on', async () => {
  process.kill(sol.pid, 'SIGSTOP');
  const from = sol.received.length;
  const sending = luna.send({ to: 'Sol', text: 'sent while stopped' });
  await expect(sol.waitForMessage('sent while stopped', 300, from)).rejects.toThrow('did not come');
  process.kill(sol.pid, 'SIGCONT');
  await sol.waitForMessage('sent while stopped', 5_000, from);
  expect((await sending).tookMs).toBeGreaterThan(290);
});

test('a receiver that never hangs up is reported', async () => {
  await using rude = await ScriptPeer.spawn({ env: world.env, name: 'Rude', hangUp: 'never' });
  const sent = await luna.send({ socket: rude.socketPath, text: 'anybody there?', withinMs: 100 });
  expect(sent.error).toBe('NOHANGUP');
  await rude.waitForMessage('anybody there?');
});

test('a peer that ends takes row, key and socket away, one that is killed leaves them', async () => {
  const files = (peer: ScriptPeer) =>
    readdirSync(sessions()).filter((file) => file.startsWith(`${peer.pid}.`));
  const [mild, hard] = [await spawn('mild'), await spawn('hard')];
  await mild.close();
  await hard.kill();
  expect([files(mild).length, existsSync(mild.socketPath)]).toEqual([0, false]);
  expect([files(hard).length, existsSync(hard.socketPath)]).toEqual([2, true]);
  await expect(hard.send({ to: 'Sol', text: 'from the grave' })).rejects.toThrow('the peer hard ended');
});

test('the row is what the test says it is', async () => {
  await using peer = await spawn('Opening', { messagingSocketPath: null, state: 'opening' });
  expect(row(peer)).toMatchObject({ name: 'Opening', state: 'opening' });
  expect(row(peer)).not.toHaveProperty('messagingSocketPath');
  await peer.update({ status: 'busy', state: null });
  expect(row(peer)).toMatchObject({ status: 'busy' });
  expect(row(peer)).not.toHaveProperty('state');
});

test('the test process can be a peer itself', async () => {
  await using here = await ScriptPeer.here({ env: world.env, name: 'Here' });
  expect(here.pid).toBe(process.pid);
  await luna.send({ to: 'Here', text: 'hello' });
  await here.reply(await here.waitForMessage('hello'), 'hello yourself');
  await luna.waitForMessage('hello yourself');
});

function spawn(name: string, row = {}): Promise<ScriptPeer> {
  return ScriptPeer.spawn({ env: world.env, name, row });
}

function sessions(): string {
  return join(world.claudeDir, 'sessions');
}

function row(peer: ScriptPeer): unknown {
  return JSON.parse(readFileSync(join(sessions(), `${peer.pid}.json`), 'utf8'));
}
