import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callControl } from '../../src/control/client.ts';
import { PeerError } from '../../src/errors.ts';
import { tempFolder, until } from '../os/fixtures.ts';
import { endlessTool, STATUS, serve } from './sockets.ts';

const never = new AbortController().signal;
const ask = { threadId: 't1', tool: 'ask', arguments: { to: 'Luna' }, callId: 'c1' };

/** Asks a server that writes what it likes, then hangs up or not. */
async function askLiar(text: string, hangsUp = true) {
  using folder = tempFolder();
  const socketPath = join(folder.path, 's');
  const server: Server = createServer((socket) => {
    socket.once('data', () => (hangsUp ? socket.end(text) : socket.write(text)));
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  try {
    return await callControl({ socketPath, method: 'status', params: {}, signal: never });
  } finally {
    server.close();
  }
}

test('a call gets its result, whatever else is in it', async () => {
  await using served = await serve({
    tool: async (params) => ({ text: JSON.stringify(params), success: true }),
  });
  const { socketPath } = served;
  expect(await callControl({ socketPath, method: 'status', params: {}, signal: never })).toEqual(STATUS);
  const { text } = await callControl({ socketPath, method: 'tool', params: ask, signal: never });
  expect(JSON.parse(text)).toEqual(ask);
});

test('a text of the longest message comes through both ways', async () => {
  await using served = await serve({ tool: async ({ callId = '' }) => ({ text: callId, success: true }) });
  const callId = '\u0001'.repeat(1_048_576);
  const params = { ...ask, callId };
  const result = await callControl({ socketPath: served.socketPath, method: 'tool', params, signal: never });
  expect(result.text === callId).toBe(true);
});

test("a refusal is the peer's own word and sentence", async () => {
  const refused = new PeerError('no-such-peer', 'Nobody is called Luna.');
  await using served = await serve({ tool: () => Promise.reject(refused) });
  const { socketPath } = served;
  const call = callControl({ socketPath, method: 'tool', params: ask, signal: never });
  await expect(call).rejects.toMatchObject({ word: 'no-such-peer', message: 'Nobody is called Luna.' });
});

test('where nobody listens nothing was sent', async () => {
  using folder = tempFolder();
  const socketPath = join(folder.path, '1.sock');
  const call = callControl({ socketPath, method: 'status', params: {}, signal: never });
  await expect(call).rejects.toMatchObject({ word: 'not-sent' });
});

test('aborting ends the call here and abandons it there', async () => {
  const { calls, abandoned, tool } = endlessTool();
  await using served = await serve({ tool });
  const giveUp = new AbortController();
  const { socketPath } = served;
  const call = callControl({ socketPath, method: 'tool', params: ask, signal: giveUp.signal });
  await until(() => calls.length === 1);
  giveUp.abort();
  await expect(call).rejects.toMatchObject({ word: 'interrupted' });
  await abandoned;
  const late = callControl({ socketPath, method: 'tool', params: ask, signal: giveUp.signal });
  await expect(late).rejects.toMatchObject({ word: 'interrupted' });
  expect(calls).toHaveLength(1);
});

test('a peer that ends without an answer leaves it open whether it acted', async () => {
  await expect(askLiar('')).rejects.toMatchObject({ word: 'maybe-written' });
  await expect(askLiar('{"id":1,"resu')).rejects.toMatchObject({ word: 'maybe-written' });
});

test('lines about something else are passed over', async () => {
  const progress = { id: 1, event: { kind: 'progress' } };
  const lines = ['no json', progress, { id: 2, result: {} }, { id: 1, result: STATUS }];
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  expect(await askLiar(`${text}\n`)).toEqual(STATUS);
});

test('an unknown word of a newer peer is an internal error with its sentence', async () => {
  const answer = { id: 1, error: { word: 'tired', message: 'Come back tomorrow.' } };
  await expect(askLiar(`${JSON.stringify(answer)}\n`, false)).rejects.toMatchObject({
    word: 'internal',
    message: 'Come back tomorrow.',
  });
});

test('a result of another shape is not taken', async () => {
  await expect(askLiar('{"id":1,"result":{"name":7}}\n', false)).rejects.toMatchObject({ word: 'internal' });
});
