import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Pace } from '../../src/frames/pace.ts';
import { controlFrame, userFrame } from '../../src/frames/send.ts';
import { LIMITS } from '../../src/limits.ts';
import { loadPeerCredentials } from '../../src/os/peer-credentials.ts';
import { processStart } from '../../src/os/proc.ts';
import { type Clock, Outbox } from '../../src/wrapper/outbox.ts';

/** What arrived: the id of the frame, and when on the test's clock. */
interface Arrival {
  readonly msgId: string;
  readonly atMs: number;
}

/** An outbox on a clock that only its own waits move, and a receiver that it writes to. */
async function openOutbox({ clock = new TestClock() }: { clock?: TestClock } = {}) {
  loadPeerCredentials();
  const folder = mkdtempSync(join(tmpdir(), 'peer-outbox-'));
  const socketPath = join(folder, '1.sock');
  const arrived: Arrival[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('end', () => {
      const lines = text.split('\n').filter(Boolean);
      arrived.push(...lines.map((line) => ({ msgId: JSON.parse(line).msg_id, atMs: clock.nowMs })));
      socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const ending = new AbortController();
  const log = { write: () => {}, hide: () => {}, close: async () => {} };
  const outbox = new Outbox({ sessionsDir: folder, pace: new Pace(), log, signal: ending.signal, clock });
  const to = { socketPath, pid: process.pid, procStart: processStart(process.pid), sessionId: null };
  const dispose = async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(folder, { recursive: true });
  };
  return { outbox, to, arrived, ending, clock, [Symbol.asyncDispose]: dispose };
}

class TestClock implements Clock {
  nowMs = 0;
  /** Waits for ever instead of going on. */
  isStopped = false;

  now(): number {
    return this.nowMs;
  }

  async wait(delayMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.isStopped) this.nowMs += delayMs;
    else await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  }
}

function message(index: number) {
  const [msgId, content] = [`m${index}`, `answer ${index}`];
  return userFrame({ msgId, from: null, content, priority: 'next', mark: { kind: 'answer' } });
}

/** How many of the messages a real receiver's bucket would drop (Claude Code 2.1.332: 30, one more per 2 s). */
function droppedBy(arrivals: readonly Arrival[]): number {
  let tokens: number = LIMITS.burst;
  let lastMs = 0;
  let dropped = 0;
  for (const { atMs } of arrivals) {
    tokens = Math.min(LIMITS.burst, tokens + (atMs - lastMs) / LIMITS.refillMs);
    lastMs = atMs;
    if (tokens >= 1) tokens--;
    else dropped++;
  }
  return dropped;
}

it('a burst of 35 arrives whole, in order, and no faster than the receiver takes it', async () => {
  await using box = await openOutbox();
  const { outbox, to, arrived } = box;
  const all = Array.from({ length: 35 }, (_, index) => message(index));
  const deliveries = await Promise.all(all.map((frame) => outbox.send(to, frame)));
  expect(new Set(deliveries)).toEqual(new Set(['written']));
  expect(arrived.map(({ msgId }) => msgId)).toEqual(all.map(({ msg_id }) => msg_id));
  expect(droppedBy(arrived)).toBe(0);
  expect(arrived.filter(({ atMs }) => atMs === 0)).toHaveLength(LIMITS.burst - 1);
  expect(arrived.at(-1)?.atMs).toBe(6 * LIMITS.refillMs);
});

it('receipts and notices are not paced, but stay behind the answers before them', async () => {
  await using box = await openOutbox();
  const { outbox, to, arrived } = box;
  const notice = controlFrame('notice', {
    action: 'peer_idle_notice',
    origMsgId: 'x',
    state: 'idle',
    from: '/run/2.sock',
    fromMode: 'prompting',
  });
  for (let index = 0; index < 31; index++) void outbox.send(to, message(index));
  await outbox.send(to, notice);
  expect(arrived.at(-1)).toEqual({ msgId: 'notice', atMs: 2 * LIMITS.refillMs });
});

it('what still waits when the peer ends is not sent, and said to be', async () => {
  await using box = await openOutbox();
  const { outbox, to, arrived, ending, clock } = box;
  clock.isStopped = true;
  const sent = Array.from({ length: 31 }, (_, index) => outbox.send(to, message(index)));
  await Promise.all(sent.slice(0, 29));
  expect(outbox.isEmpty).toBe(false);
  ending.abort(new Error('closed'));
  expect(await Promise.all(sent.slice(29))).toEqual(['not-sent', 'not-sent']);
  await outbox.settled();
  expect(outbox.isEmpty).toBe(true);
  expect(arrived).toHaveLength(29);
});

it('takes no more than its cap for one recipient, and says so', async () => {
  await using open = await openOutbox();
  open.clock.isStopped = true;
  const frame = userFrame({
    msgId: 'm',
    from: null,
    content: 'x',
    priority: 'next',
    mark: { kind: 'message' },
  });
  const taken = Array.from({ length: LIMITS.outboxFrames }, () => open.outbox.write(open.to, frame));
  expect(await open.outbox.write(open.to, frame)).toMatchObject({ delivery: 'not-sent' });
  open.ending.abort();
  await Promise.all(taken);
  expect(open.outbox.isEmpty).toBe(true);
});

it('leaves room for answers when many receipts would be written', async () => {
  await using open = await openOutbox();
  open.clock.isStopped = true;
  const frame = userFrame({
    msgId: 'm',
    from: null,
    content: 'x',
    priority: 'next',
    mark: { kind: 'message' },
  });
  const few = Array.from({ length: 3 }, () => open.outbox.write(open.to, frame));
  expect(await open.outbox.send(open.to, frame, 3)).toBe('not-sent');
  const answer = open.outbox.send(open.to, frame);
  open.clock.isStopped = false;
  await Promise.all(few);
  expect(await answer).toBe('written');
});
