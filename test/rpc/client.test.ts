import { describe, expect, test } from 'vitest';
import { RpcClient, RpcError, type RpcListener } from '../../src/rpc/client.ts';
import { openSocket } from '../../src/rpc/socket.ts';
import { FakeAppServer, until } from './fake-app-server.ts';

const silent: RpcListener = { onNotification() {}, onRequest() {}, onClose() {} };

async function connect(server: FakeAppServer, listener: Partial<RpcListener> = {}): Promise<RpcClient> {
  const client = new RpcClient({ ...silent, ...listener });
  client.attach(await openSocket(server.socketPath, client, new AbortController().signal));
  return client;
}

describe('a JSON-RPC client', () => {
  test('rejects every pending call once, with a code, when the connection ends', async () => {
    await using server = await FakeAppServer.start();
    let closes = 0;
    const client = await connect(server, { onClose: () => (closes += 1) });
    const calls = [client.call('a', {}), client.call('b', {})];
    const outcomes = Promise.allSettled(calls);
    await until(() => server.received.length === 2);
    server.drop();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { word: 'connection-closed' } });
    }
    client.close();
    expect(closes).toBe(1);
    await expect(client.call('c', {})).rejects.toMatchObject({ word: 'connection-closed' });
  });

  test('handles a response before the notifications that follow it, also in one tick', async () => {
    await using server = await FakeAppServer.start();
    const order: string[] = [];
    const client = await connect(server, { onNotification: (method) => order.push(method) });
    const call = client.call('thread/resume', {}, { inOrder: () => order.push('response') });
    await until(() => server.received.length === 1);
    server.sendTogether(
      { method: 'before', params: {} },
      { id: server.received[0]!.id, result: {} },
      { method: 'after', params: {} },
    );
    await call;
    await until(() => order.length === 3);
    expect(order).toEqual(['before', 'response', 'after']);
    client.close();
  });

  test('handles an error response in its place too, with the numbers and words of the other side', async () => {
    await using server = await FakeAppServer.start();
    const order: unknown[] = [];
    const client = await connect(server, { onNotification: (method) => order.push(method) });
    const call = client.call('turn/start', {}, { inOrderError: (error) => order.push(error) });
    const outcome = expect(call).rejects.toMatchObject({
      code: -32600,
      message: 'no',
      data: { reason: 'x' },
    });
    await until(() => server.received.length === 1);
    server.sendTogether(
      { id: server.received[0]!.id, error: { code: -32600, message: 'no', data: { reason: 'x' } } },
      { method: 'after', params: {} },
    );
    await outcome;
    await until(() => order.length === 2);
    expect(order[0]).toBeInstanceOf(RpcError);
    client.close();
  });

  test('gives up a call without an answer after its limit and ignores the late answer', async () => {
    await using server = await FakeAppServer.start();
    const client = await connect(server);
    let isHandled = false;
    const call = client.call('slow', {}, { timeoutMs: 20, inOrder: () => (isHandled = true) });
    await expect(call).rejects.toMatchObject({ word: 'connection-closed' });
    server.send({ id: server.received[0]!.id, result: {} });
    server.on('next', () => ({}));
    await client.call('next', {});
    expect(isHandled).toBe(false);
    client.close();
  });

  test('rejects a call whose answer its reader cannot read', async () => {
    await using server = await FakeAppServer.start();
    server.on('odd', () => ({}));
    const client = await connect(server);
    const inOrder = () => {
      throw new Error('not what was expected');
    };
    await expect(client.call('odd', {}, { inOrder })).rejects.toMatchObject({ word: 'internal' });
    client.close();
  });

  test('ignores frames that are no JSON-RPC objects and answers to nobody', async () => {
    await using server = await FakeAppServer.start();
    const methods: string[] = [];
    const client = await connect(server, { onNotification: (method) => methods.push(method) });
    await until(() => server.connections === 1);
    for (const text of ['junk', '[]', '"x"', '{"id":99,"result":{}}', '{"method":7}']) server.sendText(text);
    server.notify('good', {});
    await until(() => methods.length > 0);
    expect(methods).toEqual(['good']);
    client.close();
  });

  test('sends half of a surrogate pair as U+FFFD, since Codex drops a frame that has one without an answer', async () => {
    await using server = await FakeAppServer.start();
    const client = await connect(server, {
      onRequest: ({ id }) => client.reply(id, { text: ['\udc00x', '🙂'] }),
    });
    await until(() => server.connections === 1);
    server.send({ id: 0, method: 'ask', params: {} });
    void client.call('turn/start', { input: [{ text: 'cut in an emoji \ud83d' }] }).catch(() => {});
    await until(() => server.received.length === 2);
    expect(server.received).toMatchObject([
      { params: { input: [{ text: 'cut in an emoji \ufffd' }] } },
      { result: { text: ['\ufffdx', '🙂'] } },
    ]);
    client.close();
  });

  test('passes the other side’s requests on and sends what they are answered with', async () => {
    await using server = await FakeAppServer.start();
    const client: RpcClient = await connect(server, {
      onRequest: ({ id, method }) => {
        if (method === 'ask') client.reply(id, { decision: 'decline' });
        else client.replyError(id, -32601, 'not here');
      },
    });
    await until(() => server.connections === 1);
    server.send({ id: 0, method: 'ask', params: {} }, { id: 1, method: 'other', params: {} });
    await until(() => server.received.length === 2);
    expect(server.received).toEqual([
      { id: 0, result: { decision: 'decline' } },
      { id: 1, error: { code: -32601, message: 'not here' } },
    ]);
    client.close();
  });
});
