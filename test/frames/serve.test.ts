import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { BRIEF, MSG_ID, SUBSCRIPTION } from './captured.ts';
import { AUTH, gate, line, rawSender, serveFolder, writeAll } from './sockets.ts';

const CLEAN = { bytes: 0, code: null };
/** Only what the server waits with: sockets and the tests' own delays go on. */
const FAKE = { toFake: ['setTimeout', 'clearTimeout'] } satisfies Parameters<typeof vi.useFakeTimers>[0];

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe('a message with the right token', () => {
  it('is handed over, and its sender gets EOF without a byte', async () => {
    await using served = await serveFolder();
    expect(await writeAll(served.socketPath, `${AUTH}${BRIEF}\n`)).toEqual(CLEAN);
    expect(served.messages).toMatchObject([{ msgId: MSG_ID, text: 'brief for sol' }]);
  });

  it('gets its EOF only when its handler is done', async () => {
    const record = gate();
    await using served = await serveFolder({ onText: () => record.opened });
    const { socket, ended } = rawSender(served.socketPath);
    const hasEnded = vi.fn();
    void ended.then(hasEnded);
    socket.end(`${AUTH}${line('x')}`);
    await delay(100);
    expect(hasEnded).not.toHaveBeenCalled();
    record.open();
    expect(await ended).toEqual(CLEAN);
    expect(served.got).toEqual(['message:x']);
  });

  it('gets its EOF after three seconds when its handler hangs', async () => {
    vi.useFakeTimers(FAKE);
    const record = gate();
    const onText = vi.fn(() => record.opened);
    await using served = await serveFolder({ onText });
    const { socket, ended } = rawSender(served.socketPath);
    socket.end(`${AUTH}${line('x')}`);
    await delay(50);
    expect(onText).toHaveBeenCalledOnce();
    vi.advanceTimersByTime(LIMITS.recordMs - 1);
    await delay(20);
    expect(served.logged).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(await ended).toEqual(CLEAN);
    expect(served.logged).toEqual(['handler-slow']);
    record.open();
  });

  it('gets its EOF also when its handler fails, and the next one is handled', async () => {
    await using served = await serveFolder({
      onText: (text) => {
        if (text === 'bad') throw new Error('disk full');
      },
    });
    expect(await writeAll(served.socketPath, `${AUTH}${line('bad')}${line('good')}`)).toEqual(CLEAN);
    expect(served.got).toEqual(['message:good']);
    expect(served.logged).toEqual(['handler-failed']);
  });

  it('is handled without a newline at its end', async () => {
    await using served = await serveFolder();
    await writeAll(served.socketPath, `${AUTH}${BRIEF}`);
    expect(served.got).toEqual(['message:brief for sol']);
  });

  it('is handled when it comes byte by byte', async () => {
    await using served = await serveFolder();
    const { socket, ended } = rawSender(served.socketPath);
    for (const byte of Buffer.from(`${AUTH}${line('ü🙂')}`)) socket.write(Buffer.of(byte));
    socket.end();
    expect(await ended).toEqual(CLEAN);
    expect(served.got).toEqual(['message:ü🙂']);
  });

  it('is handled when the connection stays open after it', async () => {
    await using served = await serveFolder();
    const { socket, ended } = rawSender(served.socketPath);
    socket.write(`${AUTH}${line('one')}`);
    await vi.waitFor(() => expect(served.got).toEqual(['message:one']));
    socket.end(line('two'));
    await ended;
    expect(served.got).toEqual(['message:one', 'message:two']);
  });
});

describe('a message without the right token', () => {
  it.each([
    ['no auth line', line('x')],
    ['a wrong token', AUTH.replace('0123', '3210') + line('x')],
    ['a token that is too short', AUTH.replace('0123', '') + line('x')],
    ['a token that is no text', `{"type":"auth","token":7}\n${line('x')}`],
    ['the auth line after it', line('x') + AUTH],
    ['a wrong token after the right one', AUTH + AUTH.replace('0123', '3210') + line('x')],
    ['another case', AUTH.toUpperCase() + line('x')],
  ])('is refused: %s', async (_, text) => {
    await using served = await serveFolder();
    expect(await writeAll(served.socketPath, text)).toEqual(CLEAN);
    expect(served.got).toEqual(['refused:x']);
  });

  it('is refused even when another connection showed the token', async () => {
    await using served = await serveFolder();
    await writeAll(served.socketPath, `${AUTH}${line('a')}`);
    await writeAll(served.socketPath, line('b'));
    expect(served.got).toEqual(['message:a', 'refused:b']);
  });

  it('that controls is handed over and said to be without it', async () => {
    const onControl = vi.fn();
    await using served = await serveFolder({ onControl });
    await writeAll(served.socketPath, `${SUBSCRIPTION}\n`);
    await writeAll(served.socketPath, `${AUTH}${SUBSCRIPTION}\n`);
    expect(onControl.mock.calls.map(([, sender]) => sender.authed)).toEqual([false, true]);
  });
});

describe('frames of several connections', () => {
  it('are handled one after the other in the order they arrived, the slow ones too', async () => {
    let running = 0;
    await using served = await serveFolder({
      onText: async () => {
        running += 1;
        expect(running).toBe(1);
        await delay(randomInt(5));
        running -= 1;
      },
    });
    const senders: Promise<unknown>[] = [];
    for (let index = 0; index < 30; index += 1) {
      const { socket, ended } = rawSender(served.socketPath);
      await new Promise((resolve) => socket.once('connect', resolve));
      socket.end(`${AUTH}${line(`${index}`)}`);
      senders.push(ended);
      await delay(2);
    }
    await Promise.all(senders);
    expect(served.got).toEqual(Array.from({ length: 30 }, (_, index) => `message:${index}`));
  });

  it('keep a subscription behind the message before it', async () => {
    const record = gate();
    await using served = await serveFolder({ onText: () => record.opened });
    const message = writeAll(served.socketPath, `${AUTH}${line('brief')}`);
    await delay(50);
    const subscription = writeAll(served.socketPath, `${AUTH}${SUBSCRIPTION}\n`);
    await delay(50);
    expect(served.got).toEqual([]);
    record.open();
    await Promise.all([message, subscription]);
    expect(served.got).toEqual(['message:brief', 'control:notify_when_idle']);
  });

  it('know who connected from the moment of accept', async () => {
    const onMessage = vi.fn();
    let accepted = 0;
    await using served = await serveFolder({
      onMessage,
      identify: () => {
        accepted += 1;
        return { pid: accepted };
      },
    });
    const first = rawSender(served.socketPath);
    await vi.waitFor(() => expect(accepted).toBe(1));
    await writeAll(served.socketPath, `${AUTH}${line('b')}`);
    first.socket.end(`${AUTH}${line('a')}`);
    await first.ended;
    expect(onMessage.mock.calls.map(([message, sender]) => [message.text, sender.peer])).toEqual([
      ['b', { pid: 2 }],
      ['a', { pid: 1 }],
    ]);
  });

  it('are taken from an unknown peer when asking who connected fails', async () => {
    const onMessage = vi.fn();
    const identify = () => {
      throw new Error('no such call');
    };
    await using served = await serveFolder({ onMessage, identify });
    await writeAll(served.socketPath, `${AUTH}${line('x')}`);
    expect(onMessage.mock.calls[0]?.[1]).toEqual({ authed: true, peer: null });
    expect(served.logged).toEqual(['identify-failed']);
  });
});

describe('a connection', () => {
  it('without a byte is ended at once and told to nobody, also while a handler is busy', async () => {
    const record = gate();
    await using served = await serveFolder({ onText: () => record.opened });
    const busy = writeAll(served.socketPath, `${AUTH}${line('x')}`);
    await delay(50);
    expect(await writeAll(served.socketPath, '')).toEqual(CLEAN);
    expect(served.logged).toEqual([]);
    record.open();
    await busy;
  });

  it('with lines that mean nothing is ended like any other, and the lines are told to the log', async () => {
    await using served = await serveFolder();
    expect(await writeAll(served.socketPath, `\n\r\n${AUTH}{\n{"type":"stop"}\n${line('x')}`)).toEqual(CLEAN);
    expect(served.got).toEqual(['message:x']);
    expect(served.logged).toEqual(['frame-ignored', 'frame-ignored']);
  });

  it('that breaks off inside a line leaves nothing but a log line', async () => {
    await using served = await serveFolder();
    const { socket, ended } = rawSender(served.socketPath);
    socket.write(`${AUTH}${BRIEF.slice(0, 80)}`, () => socket.destroy());
    await ended;
    await vi.waitFor(() => expect(served.logged).toEqual(['frame-ignored']));
    expect(served.got).toEqual([]);
  });

  it('that completes no line for thirty seconds is closed', async () => {
    vi.useFakeTimers(FAKE);
    await using served = await serveFolder();
    const idle = rawSender(served.socketPath);
    const half = rawSender(served.socketPath);
    half.socket.write('{"type":');
    await new Promise((resolve) => setImmediate(resolve));
    const last = writeAll(served.socketPath, '');
    await last;
    vi.advanceTimersByTime(LIMITS.lineTimeoutMs - 1);
    expect(served.logged).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(await idle.ended).toEqual(CLEAN);
    expect(await half.ended).toEqual(CLEAN);
    expect(served.logged).toEqual(['line-timeout', 'line-timeout']);
  });

  it('that brings only blank lines and lines that are no frames is closed as if it were silent', async () => {
    vi.useFakeTimers(FAKE);
    await using served = await serveFolder();
    const blank = rawSender(served.socketPath);
    const useful = rawSender(served.socketPath);
    for (const { socket } of [blank, useful]) socket.write('{\n');
    while (served.logged.length < 2) await delay(5);
    vi.advanceTimersByTime(LIMITS.lineTimeoutMs - 1);
    blank.socket.write('\n{"type":"stop"}\n');
    useful.socket.write(AUTH + line('x'));
    while (served.logged.length < 3 || served.got.length < 1) await delay(5);
    vi.advanceTimersByTime(1);
    expect(await blank.ended).toEqual(CLEAN);
    expect(served.logged.slice(3)).toEqual(['line-timeout']);
    useful.socket.end();
    expect(await useful.ended).toEqual(CLEAN);
  });

  it('brings a line that fills the cap whole', async () => {
    await using served = await serveFolder();
    const room = LIMITS.frameChars - line('').length;
    expect(await writeAll(served.socketPath, `${AUTH}${line('ü'.repeat(room))}`)).toEqual(CLEAN);
    expect(served.messages[0]?.text.length).toBe(room);
  });

  it('with a longer line fails at the sender, and the id at the head of the line is told', async () => {
    await using served = await serveFolder();
    const frame = BRIEF.replace('brief for sol', 'x'.repeat(1_200_000));
    const { code } = await writeAll(served.socketPath, `${AUTH}${frame}\n`);
    expect(code).toMatch(/^(ECONNRESET|EPIPE)$/);
    expect(served.got).toEqual([`too-long:${MSG_ID}`]);
    expect(served.logged).toContain('line-too-long');
  });

  it('with a longer line is told to be without an id when its head shows none', async () => {
    await using served = await serveFolder();
    await writeAll(served.socketPath, `{"type":"user","x":"${'\\"msg_id\\":\\"fake\\"'.repeat(100_000)}`);
    expect(served.got).toEqual(['too-long:null']);
  });

  it('that brings more than may wait is read on only when its frames are handled', async () => {
    const record = gate();
    await using served = await serveFolder({ onText: () => record.opened });
    const { socket, ended } = rawSender(served.socketPath);
    socket.end(AUTH + line('x'.repeat(500_000)).repeat(8) + line('last'));
    await delay(250);
    expect(socket.writableLength).toBeGreaterThan(1_000_000);
    record.open();
    expect(await ended).toEqual(CLEAN);
    expect(served.got.length).toBe(9);
    expect(served.got.at(-1)).toBe('message:last');
  });

  it('past the cap of one process is cut off and told to the log, one of another process is served', async () => {
    let pid = 1;
    await using served = await serveFolder({ identify: () => ({ pid }) });
    const open = Array.from({ length: LIMITS.connectionsPerPid }, () => rawSender(served.socketPath));
    for (const { socket } of open) socket.write(AUTH + line('x'));
    await vi.waitUntil(() => served.got.length === open.length);
    expect(served.logged).toEqual([]);
    await writeAll(served.socketPath, '');
    expect(served.logged).toEqual(['connections-of-process-full']);
    pid = 2;
    expect(await writeAll(served.socketPath, AUTH + line('another'))).toEqual(CLEAN);
    expect(served.got.at(-1)).toBe('message:another');
    pid = 1;
    open[0]!.socket.end();
    await open[0]!.ended;
    expect(await writeAll(served.socketPath, AUTH + line('again'))).toEqual(CLEAN);
    expect(served.got.at(-1)).toBe('message:again');
    for (const { socket } of open) socket.end();
  });

  it('past the cap on connections fails at its sender and is told to the log', async () => {
    await using served = await serveFolder();
    const open = Array.from({ length: LIMITS.connections }, () => rawSender(served.socketPath));
    await Promise.all(open.map(({ socket }) => new Promise((resolve) => socket.once('connect', resolve))));
    await vi.waitFor(async () => {
      await writeAll(served.socketPath, `${AUTH}${line('x')}`);
      expect(served.logged).toContain('connections-full');
    });
    for (const { socket } of open) socket.end();
    await Promise.all(open.map(({ ended }) => ended));
    const before = served.got.length;
    await writeAll(served.socketPath, `${AUTH}${line('y')}`);
    expect(served.got.slice(before)).toEqual(['message:y']);
  });
});

describe('whatever bytes arrive', () => {
  const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
  const part = fc.oneof(
    fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(AUTH, AUTH.slice(0, 20), BRIEF, `${SUBSCRIPTION}\n`, '\n', '{"type":"user"', '\0')
      .map(Buffer.from),
  );

  it(`nothing crashes, nothing is answered, and the next message is taken (FUZZ_SEED=${seed})`, async () => {
    await using served = await serveFolder();
    const property = fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
      expect(await writeAll(served.socketPath, Buffer.concat(parts))).toEqual(CLEAN);
    });
    await fc.assert(property, { seed, numRuns: 300 });
    await writeAll(served.socketPath, `${AUTH}${line('last')}`);
    expect(served.got.at(-1)).toBe('message:last');
  });
});

describe('the socket file', () => {
  it('is there with mode 0600, and nothing else is', async () => {
    await using served = await serveFolder();
    expect(statSync(served.socketPath).mode & 0o7777).toBe(0o600);
    expect(readdirSync(served.folder)).toEqual(['4242.sock']);
  });

  it('is gone after close, and closing again does nothing', async () => {
    await using served = await serveFolder();
    await Promise.all([served.server.close(), served.server.close()]);
    expect(readdirSync(served.folder)).toEqual([]);
    expect(await writeAll(served.socketPath, '')).toEqual({ bytes: 0, code: 'ENOENT' });
  });

  it('is left alone on close when somebody else has put one in its place', async () => {
    await using served = await serveFolder();
    rmSync(served.socketPath);
    writeFileSync(served.socketPath, 'not ours');
    await served.server.close();
    expect(existsSync(served.socketPath)).toBe(true);
  });

  it('replaces one that nobody listens on', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'peer-frames-'));
    const socketPath = join(folder, '4242.sock');
    const gone = createServer().listen(join(folder, 'gone'));
    await new Promise((resolve) => gone.once('listening', resolve));
    renameSync(join(folder, 'gone'), socketPath);
    await new Promise((resolve) => gone.close(resolve));
    await using served = await serveFolder({ socketPath });
    expect(await writeAll(socketPath, `${AUTH}${line('x')}`)).toEqual(CLEAN);
    expect(served.got).toEqual(['message:x']);
    rmSync(folder, { recursive: true });
  });

  it('is never taken from a process that listens on it', async () => {
    await using served = await serveFolder();
    await expect(serveFolder({ socketPath: served.socketPath })).rejects.toMatchObject({ word: 'internal' });
    expect(await writeAll(served.socketPath, `${AUTH}${line('x')}`)).toEqual(CLEAN);
    expect(served.got).toEqual(['message:x']);
  });

  it.each([
    ['a folder that is not there', '/nowhere/4242.sock', 'unsafe-folder'],
    ['a path the kernel would cut', `/tmp/${'x'.repeat(110)}.sock`, 'internal'],
  ])('cannot be in %s', async (_, socketPath, word) => {
    await expect(serveFolder({ socketPath })).rejects.toMatchObject({ name: 'PeerError', word });
  });
});

describe('closing', () => {
  it('lets a running handler finish and its sender have its EOF', async () => {
    const record = gate();
    await using served = await serveFolder({ onText: () => record.opened });
    const hasEnded = vi.fn();
    const sender = writeAll(served.socketPath, `${AUTH}${line('x')}`);
    void sender.then(hasEnded);
    await delay(50);
    const closed = served.server.close();
    await delay(50);
    expect(hasEnded).not.toHaveBeenCalled();
    record.open();
    expect(await sender).toEqual(CLEAN);
    await closed;
    expect(served.got).toEqual(['message:x']);
  });

  it('does not wait longer than three seconds for a handler that hangs', async () => {
    vi.useFakeTimers(FAKE);
    const record = gate();
    await using served = await serveFolder({ onText: () => record.opened });
    const sender = writeAll(served.socketPath, `${AUTH}${line('x')}`);
    await delay(50);
    const closed = served.server.close();
    vi.advanceTimersByTime(LIMITS.recordMs);
    await closed;
    expect(await sender).toEqual(CLEAN);
    expect(served.got).toEqual([]);
    record.open();
  });

  it('takes nothing of a message it has not read to the end', async () => {
    await using served = await serveFolder();
    const { socket, ended } = rawSender(served.socketPath);
    socket.write(`${AUTH}${BRIEF.slice(0, 80)}`);
    await delay(50);
    await served.server.close();
    await ended;
    expect(served.got).toEqual([]);
  });

  it('happens when its signal is aborted, and at once when it already was', async () => {
    const life = new AbortController();
    await using served = await serveFolder({ signal: life.signal });
    life.abort();
    await vi.waitFor(() => expect(existsSync(served.socketPath)).toBe(false));
    await using late = await serveFolder({ signal: life.signal });
    expect(existsSync(late.socketPath)).toBe(false);
  });

  it('leaves no timer behind', async () => {
    const served = await serveFolder();
    const { ended } = rawSender(served.socketPath);
    await writeAll(served.socketPath, `${AUTH}${line('x')}`);
    await served[Symbol.asyncDispose]();
    await ended;
    expect(process.getActiveResourcesInfo().filter((name) => name === 'PipeServerWrap')).toEqual([]);
  });
});
