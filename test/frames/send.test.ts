import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { wrapEnvelope } from '../../src/frames/envelope.ts';
import { sendFrame, userFrame } from '../../src/frames/send.ts';
import { LIMITS } from '../../src/limits.ts';
import { AUTH, serveFolder, TOKEN } from './sockets.ts';

afterEach(() => {
  vi.useRealTimers();
});

function frameOf(text: string) {
  const content = wrapEnvelope({ from: null, fromName: 'Sol', fromMode: 'prompting', hopChain: [], text });
  return userFrame({
    msgId: 'id-1',
    from: '/tmp/s.sock',
    content,
    priority: 'next',
    mark: { kind: 'message' },
  });
}

/** A receiver that does with a connection what it is told to. */
async function receiver(onConnection: (socket: Socket) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'peer-send-'));
  const socketPath = join(folder, '1.sock');
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const dispose = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true, force: true });
  };
  return { socketPath, [Symbol.asyncDispose]: dispose };
}

describe('a frame', () => {
  it('arrives as auth line and frame line with EOF, and is written when the receiver closes', async () => {
    const chunks: Buffer[] = [];
    await using peer = await receiver((socket) => {
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('end', () => socket.end());
    });
    const frame = frameOf('hi');
    await expect(sendFrame({ socketPath: peer.socketPath, token: TOKEN, frame })).resolves.toBe('written');
    expect(Buffer.concat(chunks).toString()).toBe(`${AUTH}${JSON.stringify(frame)}\n`);
    expect(chunks.length).toBe(1);
  });

  it('has U+FFFD for half of a surrogate pair', async () => {
    await using served = await serveFolder();
    await sendFrame({ socketPath: served.socketPath, token: TOKEN, frame: frameOf('🙂 cut \ud83d') });
    expect(served.got).toEqual(['message:🙂 cut \ufffd']);
  });

  it('goes without an auth line when the receiver has no token', async () => {
    await using served = await serveFolder();
    await sendFrame({ socketPath: served.socketPath, token: null, frame: frameOf('hi') });
    expect(served.got).toEqual(['refused:hi']);
  });

  it('of a megabyte arrives whole at our own server', async () => {
    await using served = await serveFolder();
    const text = 'x'.repeat(1_048_000);
    const socketPath = served.socketPath;
    await expect(sendFrame({ socketPath, token: TOKEN, frame: frameOf(text) })).resolves.toBe('written');
    expect(served.messages[0]?.text).toBe(text);
  });

  it('is not written before the receiver has closed', async () => {
    let hasClosed = false;
    await using peer = await receiver((socket) => {
      socket.resume();
      socket.on('end', () => {
        setTimeout(() => {
          hasClosed = true;
          socket.end();
        }, 150);
      });
    });
    await sendFrame({ socketPath: peer.socketPath, token: TOKEN, frame: frameOf('hi') });
    expect(hasClosed).toBe(true);
  });

  it('is written although the receiver answers, and the answer is not read as anything', async () => {
    await using peer = await receiver((socket) => {
      socket.resume();
      socket.on('end', () => socket.end('{"type":"user"}\n'));
    });
    const sent = sendFrame({ socketPath: peer.socketPath, token: TOKEN, frame: frameOf('hi') });
    await expect(sent).resolves.toBe('written');
  });
});

describe('a frame is not sent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'peer-send-'));
  writeFileSync(join(folder, 'file.sock'), '');
  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['the socket is gone', join(folder, 'none.sock'), /its socket is gone/],
    ['nobody listens', join(folder, 'file.sock'), /nobody listens/],
    ['the path is longer than the kernel takes', `/${'x'.repeat(200)}`, /^Not sent/],
  ])('when %s', async (_, socketPath, message) => {
    const sent = sendFrame({ socketPath, token: TOKEN, frame: frameOf('hi') });
    await expect(sent).rejects.toMatchObject({
      name: 'PeerError',
      word: 'not-sent',
      message: expect.stringMatching(message),
    });
  });

  it('when it is larger than the receiver takes, auth line included', async () => {
    await using served = await serveFolder();
    const room = LIMITS.frameChars - AUTH.length - JSON.stringify(frameOf('')).length - 1;
    const { socketPath } = served;
    const fits = sendFrame({ socketPath, token: TOKEN, frame: frameOf('x'.repeat(room)) });
    await expect(fits).resolves.toBe('written');
    const tooLarge = sendFrame({ socketPath, token: TOKEN, frame: frameOf('x'.repeat(room + 1)) });
    await expect(tooLarge).rejects.toMatchObject({ word: 'not-sent' });
    expect(served.got.length).toBe(1);
  });

  it('when it was canceled before', async () => {
    await using served = await serveFolder();
    const signal = AbortSignal.abort();
    const sent = sendFrame({ socketPath: served.socketPath, token: TOKEN, frame: frameOf('hi'), signal });
    await expect(sent).rejects.toMatchObject({ word: 'not-sent' });
    expect(served.got).toEqual([]);
  });

  it('and its error never holds the token', async () => {
    const sent = sendFrame({ socketPath: join(folder, 'none.sock'), token: TOKEN, frame: frameOf('secret') });
    const error = await sent.catch((reason: unknown) => reason);
    expect(String(error)).not.toContain(TOKEN);
    expect(String(error)).not.toContain('secret');
  });
});

describe('a frame may have been written', () => {
  it.each([
    ['hangs up unread', (socket: Socket) => socket.destroy()],
    ['hangs up in the middle', (socket: Socket) => socket.once('data', () => socket.destroy())],
  ])('when the receiver %s', async (_, onConnection) => {
    await using peer = await receiver(onConnection);
    const sent = sendFrame({
      socketPath: peer.socketPath,
      token: TOKEN,
      frame: frameOf('x'.repeat(1_000_000)),
    });
    await expect(sent).rejects.toMatchObject({
      word: 'maybe-written',
      message: expect.stringMatching(/it hung up .* may double it/),
    });
  });

  it.each([
    ['never closes', (socket: Socket) => void socket.resume()],
    ['never reads', () => {}],
  ])('when the receiver %s for five seconds', async (_, onConnection) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await using peer = await receiver(onConnection);
    const sent = sendFrame({
      socketPath: peer.socketPath,
      token: TOKEN,
      frame: frameOf('x'.repeat(1_000_000)),
    });
    const failed = expect(sent).rejects.toMatchObject({ word: 'maybe-written' });
    await delay(50);
    vi.advanceTimersByTime(LIMITS.sendMs);
    await failed;
  });

  it('when it is canceled after the first byte', async () => {
    await using peer = await receiver((socket) => void socket.resume());
    const canceled = new AbortController();
    const { signal } = canceled;
    const sent = sendFrame({ socketPath: peer.socketPath, token: TOKEN, frame: frameOf('hi'), signal });
    const settled = vi.fn();
    sent.then(settled, settled);
    await delay(50);
    expect(settled).not.toHaveBeenCalled();
    canceled.abort();
    await expect(sent).rejects.toMatchObject({ word: 'maybe-written' });
  });
});
