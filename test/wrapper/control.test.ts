import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { keyFile } from '../../src/registry/key.ts';
import { openControl } from '../../src/wrapper/control.ts';
import { TOKEN } from '../frames/sockets.ts';
import { ScriptPeer } from '../real/script-peer.ts';
import { ServedPeer } from './served-peer.ts';

const never = new AbortController().signal;
const ask = { tool: 'ask', arguments: { to: 'beta', text: 'which colour?' }, callId: 'c1' };

/** A peer that serves and a native one beside it. */
async function open() {
  const served = await ServedPeer.open();
  const { folder, sessionsDir, socketPath } = served;
  writeFileSync(keyFile(sessionsDir, process.pid, socketPath), JSON.stringify({ peerToken: TOKEN }));
  const env = { PATH: process.env.PATH, HOME: folder, CLAUDE_CONFIG_DIR: folder, XDG_RUNTIME_DIR: folder };
  const beta = await ScriptPeer.spawn({ env, name: 'beta' });
  onTestFinished(async () => {
    await beta.close();
    await served[Symbol.asyncDispose]();
  });
  return { served, beta, threadId: served.thread.id };
}

test('a tool call over the control socket is sent, answered and told as one of the thread itself', async () => {
  const { served, beta, threadId } = await open();
  const result = served.peer.toolCall({ ...ask, threadId }, never);
  await beta.reply(await beta.waitForMessage('which colour?'), 'blue');
  expect(await result).toEqual({ text: expect.stringContaining('blue'), success: true });
});

test('a call that comes twice acts once and has the same result', async () => {
  const { served, beta, threadId } = await open();
  const both = [1, 2].map(() => served.peer.toolCall({ ...ask, threadId }, never));
  await beta.reply(await beta.waitForMessage('which colour?'), 'blue');
  const [first, second] = await Promise.all(both);
  expect(first).toEqual(second);
  expect(await served.peer.toolCall({ ...ask, threadId }, never)).toEqual(first);
  expect(beta.messages).toHaveLength(1);
});

test('a call of another thread is refused and nothing is sent', async () => {
  const { served, beta } = await open();
  const call = served.peer.toolCall({ ...ask, threadId: 'another' }, never);
  await expect(call).rejects.toMatchObject({ word: 'refused' });
  expect(beta.messages).toEqual([]);
});

test('a question goes on waiting when the connection to the daemon breaks, since its caller is still there', async () => {
  const { served, beta, threadId } = await open();
  const result = served.peer.toolCall({ ...ask, threadId }, never);
  const asked = await beta.waitForMessage('which colour?');
  served.thread.disconnect();
  // It is not one that was cut off, which the next call of the same question would take over.
  void served.peer.toolCall({ ...ask, threadId, callId: 'c2' }, never);
  await expect.poll(() => beta.messages).toHaveLength(2);
  await beta.reply(asked, 'blue');
  expect(await result).toMatchObject({ text: expect.stringContaining('blue') });
});

test('a question whose caller has given up is answered to the thread', async () => {
  const { served, beta, threadId } = await open();
  const giveUp = new AbortController();
  const result = served.peer.toolCall({ ...ask, threadId }, giveUp.signal);
  const asked = await beta.waitForMessage('which colour?');
  giveUp.abort();
  await expect(result).rejects.toMatchObject({ word: 'interrupted' });
  await beta.reply(asked, 'blue');
  await expect.poll(() => served.thread.given).toEqual([expect.stringContaining('blue')]);
});

test('a question whose caller has given up is taken over by the next call of the same question', async () => {
  const { served, beta, threadId } = await open();
  const giveUp = new AbortController();
  const first = served.peer.toolCall({ ...ask, threadId }, giveUp.signal);
  const asked = await beta.waitForMessage('which colour?');
  giveUp.abort();
  await expect(first).rejects.toMatchObject({ word: 'interrupted' });
  const second = served.peer.toolCall({ ...ask, threadId, callId: 'c2' }, never);
  await sleep(50);
  await beta.reply(asked, 'blue');
  expect(await second).toMatchObject({ text: expect.stringContaining('blue') });
  expect(beta.messages).toHaveLength(1);
});

test('closing the peer gives an open question its result', async () => {
  const { served, beta, threadId } = await open();
  const result = served.peer.toolCall({ ...ask, threadId }, never);
  await beta.waitForMessage('which colour?');
  await served.peer.settle();
  expect(await result).toMatchObject({ success: false });
  expect(served.peer.status()).toEqual({
    name: 'Sol',
    threadId,
    state: 'closing',
    queued: 0,
    claims: 0,
    refused: 0,
  });
});

test('where another user has made the folders first, the peer serves without a control socket and says so once', async () => {
  await using served = await ServedPeer.open();
  const taken = [join(served.folder, 'taken'), join(served.folder, 'taken', 'below')];
  writeFileSync(taken[0]!, '');
  const [logged, said]: [string[], string[]] = [[], []];
  const log = { write: (event: string) => logged.push(event) };
  const say = (text: string) => said.push(text);
  expect(await openControl(served.peer, log, say, taken)).toBeNull();
  expect({ logged, said }).toEqual({ logged: ['no-control'], said: [expect.stringContaining(taken[0]!)] });
  const folder = join(served.folder, 'own');
  const control = await openControl(served.peer, log, say, [taken[0]!, folder]);
  expect(existsSync(join(folder, `${process.pid}.sock`))).toBe(true);
  await control?.close();
  expect(said).toHaveLength(1);
});
