import { existsSync, lstatSync, statSync } from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isAllowed } from '../../src/control/server.ts';
import { PeerError } from '../../src/errors.ts';
import { LIMITS } from '../../src/limits.ts';
import { gate } from '../frames/sockets.ts';
import { until } from '../os/fixtures.ts';
import { endlessTool, RawControl, STATUS, serve } from './sockets.ts';

const call = (id: number | string, tool = 'ask') => {
  return { id, method: 'tool', params: { threadId: 't1', tool, arguments: {} } };
};

afterEach(() => {
  vi.useRealTimers();
});

describe('who may connect', () => {
  const uid = process.getuid?.() ?? 0;

  test('a process of our own user', () => expect(isAllowed({ uid }, uid)).toBe(true));

  test('nobody else, root included', () => {
    expect(isAllowed({ uid: uid + 1 }, uid)).toBe(false);
    expect(isAllowed({ uid: 0 }, 1000)).toBe(false);
  });

  test('the socket can be entered by its owner only', async () => {
    await using served = await serve();
    expect(lstatSync(served.socketPath).isSocket()).toBe(true);
    expect(statSync(served.socketPath).mode & 0o777).toBe(0o600);
  });
});

describe('a request', () => {
  test('is answered by its id, several on one connection, as they end', async () => {
    const slow = gate();
    await using served = await serve({
      tool: async ({ tool }) => {
        if (tool === 'slow') await slow.opened;
        return { text: tool, success: true };
      },
    });
    using client = new RawControl(served.socketPath);
    client.write(call(1, 'slow'), call('two', 'fast'));
    await until(() => client.answers.length === 1);
    slow.open();
    await until(() => client.answers.length === 2);
    expect(client.answers).toEqual([
      { id: 'two', result: { text: 'fast', success: true } },
      { id: 1, result: { text: 'slow', success: true } },
    ]);
  });

  test('in pieces is one request', async () => {
    await using served = await serve();
    using client = new RawControl(served.socketPath);
    const line = `${JSON.stringify({ id: 'ü', method: 'status' })}\n`;
    for (const byte of Buffer.from(line)) client.socket.write(Uint8Array.of(byte));
    await until(() => client.answers.length === 1);
    expect(client.answers).toEqual([{ id: 'ü', result: STATUS }]);
  });

  test('that was not completed when the connection ended is none', async () => {
    const { calls, tool } = endlessTool();
    await using served = await serve({ tool });
    const client = new RawControl(served.socketPath);
    client.socket.end(JSON.stringify(call(1)));
    await client.ended();
    expect({ calls, answers: client.answers }).toEqual({ calls: [], answers: [] });
  });

  test.each([
    ['a line that is no JSON', '{"id":1\n', null],
    ['a line that is no request', '[1,2]\n', null],
    ['an unknown method', { id: 7, method: 'rename' }, 7],
    ['a tool call without its thread', { id: 8, method: 'tool', params: { tool: 'ask' } }, 8],
  ])('%s is refused and the next one is answered', async (_what, request, id) => {
    await using served = await serve();
    using client = new RawControl(served.socketPath);
    client.write(request, '\n', { id: 'next', method: 'status' });
    await until(() => client.answers.length === 2);
    expect(client.answers).toEqual([
      { id, error: { word: 'usage', message: expect.stringMatching(/\.$/) } },
      { id: 'next', result: STATUS },
    ]);
  });

  test('that fails is told in the words of the failure', async () => {
    await using served = await serve({
      tool: async ({ tool }) => {
        throw tool === 'ask' ? new PeerError('refused', 'Not now.') : new TypeError('oops');
      },
    });
    using client = new RawControl(served.socketPath);
    client.write(call(1), call(2, 'other'));
    await until(() => client.answers.length === 2);
    expect(client.answers).toEqual([
      { id: 1, error: { word: 'refused', message: 'Not now.' } },
      { id: 2, error: { word: 'internal', message: 'oops' } },
    ]);
  });
});

describe('every bound', () => {
  test('a line over the cap is refused and ends the connection; what follows it is not read', async () => {
    const { calls, tool } = endlessTool();
    await using served = await serve({ tool });
    const client = new RawControl(served.socketPath);
    client.write(`${'x'.repeat(LIMITS.controlLineChars)}\n`, call(1));
    await client.ended();
    expect(client.answers).toEqual([{ id: null, error: expect.objectContaining({ word: 'usage' }) }]);
    expect(calls).toEqual([]);
  });

  test('one call too many on a connection is refused, the others stay open', async () => {
    const { calls, tool } = endlessTool();
    await using served = await serve({ tool });
    using client = new RawControl(served.socketPath);
    client.write(...Array.from({ length: LIMITS.controlCalls + 1 }, (_, index) => call(index)));
    await until(() => client.answers.length === 1);
    expect(calls).toHaveLength(LIMITS.controlCalls);
    expect(client.answers).toMatchObject([{ id: LIMITS.controlCalls, error: { word: 'usage' } }]);
  });

  test('one connection too many is cut off and logged', async () => {
    await using served = await serve();
    const clients = Array.from(
      { length: LIMITS.controlConnections },
      () => new RawControl(served.socketPath),
    );
    for (const client of clients) client.write({ id: 1, method: 'status' });
    await until(() => clients.every((client) => client.answers.length === 1));
    await new RawControl(served.socketPath).ended();
    expect(served.logged).toContain('control-full');
    for (const client of clients) client[Symbol.dispose]();
  });

  test('answers that nobody reads stop the reading, and end the connection after 30 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { calls, tool } = endlessTool();
    await using served = await serve({ tool });
    const client = new RawControl(served.socketPath);
    client.socket.pause();
    const id = 'x'.repeat(1_000_000);
    // An open call keeps the connection from ending as an idle one.
    client.write(call(1));
    for (let index = 0; index < 20; index++) client.write({ id, method: 'rename' });
    await vi.waitUntil(() => served.logged.length > 2);
    for (let index = 0; index < 20; index++) await new Promise((resolve) => setImmediate(resolve));
    const read = served.logged.length;
    expect(read).toBeLessThan(10);
    expect(calls).toHaveLength(1);
    vi.advanceTimersByTime(LIMITS.lineTimeoutMs);
    expect(served.logged.slice(read)).toEqual(['control-unread']);
    client.socket.resume();
    await client.ended();
    vi.useRealTimers();
  });

  test('answers that are read late all come', async () => {
    await using served = await serve();
    using client = new RawControl(served.socketPath);
    client.socket.pause();
    const id = 'x'.repeat(1_000_000);
    for (let index = 0; index < 10; index++) client.write({ id, method: 'rename' });
    await until(() => served.logged.length > 2);
    client.socket.resume();
    await until(() => served.logged.length === 20);
    await vi.waitUntil(() => client.answers.length === 10);
  });

  test('a connection that asks for nothing is ended after 30 s, one that waits for an answer is not', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { calls, tool } = endlessTool();
    await using served = await serve({ tool });
    const silent = new RawControl(served.socketPath);
    const idle = new RawControl(served.socketPath);
    using waiting = new RawControl(served.socketPath);
    idle.write({ id: 1, method: 'status' });
    waiting.write(call(1), { id: 2, method: 'status' });
    await vi.waitUntil(() => idle.answers.length + waiting.answers.length === 2 && calls.length === 1);
    vi.advanceTimersByTime(LIMITS.lineTimeoutMs);
    await Promise.all([silent.ended(), idle.ended()]);
    expect(waiting.socket.closed).toBe(false);
    vi.useRealTimers();
  });
});

test('a closed connection abandons its calls', async () => {
  const { calls, abandoned, tool } = endlessTool();
  await using served = await serve({ tool });
  const client = new RawControl(served.socketPath);
  client.write(call(1));
  await until(() => calls.length === 1);
  client[Symbol.dispose]();
  await abandoned;
});

describe('closing', () => {
  test('removes the socket at once, lets a call be answered that ends now, and cuts off one that does not', async () => {
    const ending = gate();
    const endless = endlessTool();
    await using served = await serve({
      tool: async (params, signal) => {
        if (params.tool === 'endless') return endless.tool(params, signal);
        await ending.opened;
        return { text: 'closed', success: false };
      },
    });
    const [quick, slow] = [new RawControl(served.socketPath), new RawControl(served.socketPath)];
    quick.write(call(1));
    slow.write(call(1, 'endless'));
    await until(() => endless.calls.length === 1 && served.logged.length === 2);
    const closed = served.close();
    expect(existsSync(served.socketPath)).toBe(false);
    ending.open();
    await Promise.all([closed, quick.ended(), slow.ended(), endless.abandoned]);
    expect(quick.answers).toEqual([{ id: 1, result: { text: 'closed', success: false } }]);
    expect(slow.answers).toEqual([]);
  });

  test('takes no further request on an open connection', async () => {
    const { calls, tool } = endlessTool();
    await using served = await serve({ tool });
    const client = new RawControl(served.socketPath);
    client.write(call(1));
    await until(() => calls.length === 1);
    const closed = served.close();
    client.write(call(2));
    await closed;
    expect(calls).toHaveLength(1);
  });
});
