import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { commentary, final, type Rounds, script } from './model-script.ts';
import type { Loose, RawClient } from './raw-client.ts';
import type { ScriptPeer } from './script-peer.ts';
import {
  type Bench,
  openBench,
  openRawClient,
  openSender,
  openSol,
  repliesTo,
  replyTo,
  type Sol,
} from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

let world: World;
let bench: Bench;
let a: ScriptPeer;
let b: ScriptPeer;
let other: RawClient;
let sol: Sol;

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  a = await openSender(bench, 'alpha');
  b = await openSender(bench, 'beta');
  other = await openRawClient(bench);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  printWhenFailed(world);
  sol = await openSol(bench);
  await other.call('thread/resume', { threadId: sol.threadId, excludeTurns: true });
});
afterEach(() => sol.process.stop());

type Send = { priority?: 'now' | 'next' | 'later' };

async function send(from: ScriptPeer, text: string, options: Send = {}): Promise<string> {
  return (await from.send({ to: sol.name, text, ...options })).msgId;
}

/** Waits until an item of Sol's thread satisfies this. */
function item(method: 'started' | 'completed', matches: (item: Loose) => boolean): Promise<unknown> {
  return other.wait(
    (frame) =>
      frame.method === `item/${method}` &&
      frame.params.threadId === sol.threadId &&
      matches(frame.params.item),
  );
}

/** Waits until Codex made this text a user item. */
function isTaken(text: string): Promise<unknown> {
  return item(
    'started',
    ({ type, content }) => type === 'userMessage' && JSON.stringify(content).includes(text),
  );
}

/** One more message is answered: whatever was going to be sent twice would have been sent by now. */
async function nothingMoreComes(): Promise<void> {
  const id = await send(b, 'a last one', { priority: 'later' });
  await replyTo(b, id);
}

const answered = (body: string, label = '') => ({ kind: 'answer', outcome: 'answered', body, label });

test('two senders wait for each other, and each gets its own answer', async () => {
  const first = await send(a, `one ${script([[{ hold: 'two-senders' }, final('A1')]])}`);
  await isTaken('one');
  const second = await send(b, `two ${script([[final('A2')]])}`);
  const third = await send(a, `three ${script([[final('A3')]])}`);
  bench.model.release('two-senders');
  expect(await replyTo(a, first)).toEqual(answered('A1'));
  expect(await replyTo(b, second)).toEqual(answered('A2'));
  expect(await replyTo(a, third)).toEqual(answered('A3'));
  expect([repliesTo(a, first), repliesTo(b, second), repliesTo(a, third)]).toEqual([1, 1, 1]);
});

test('`later` comes after everything queued before and after it', async () => {
  const first = await send(a, `one ${script([[{ hold: 'later' }, final('A1')]])}`);
  await isTaken('one');
  const late = await send(a, `late ${script([[final('late')]])}`, { priority: 'later' });
  const next = await send(b, `next ${script([[final('next')]])}`);
  bench.model.release('later');
  await replyTo(a, first);
  await replyTo(b, next);
  expect(a.messages.filter((frame) => frame.content.includes('late\n'))).toHaveLength(0);
  expect(await replyTo(a, late)).toEqual(answered('late'));
});

test('`now` steers the running turn: one turn, both are answered, the first one with a label', async () => {
  const first = await send(
    a,
    `slow ${script([[commentary('thinking'), { hold: 'steered' }, final('never')]])}`,
  );
  await isTaken('slow');
  const urgent = await send(b, `urgent ${script([[final('for both')]])}`, { priority: 'now' });
  expect(await replyTo(b, urgent)).toEqual(answered('for both'));
  expect(await replyTo(a, first)).toEqual(answered('for both', 'given together with a later message'));
  const turns = await other.turns(sol.threadId);
  expect(turns).toHaveLength(1);
  bench.model.release('steered');
});

test("another client that starts on the idle thread at the same moment changes nobody's answer", async () => {
  for (let round = 0; round < 4; round++) {
    const [id] = await Promise.all([
      send(a, `race ${round} ${script([[{ delayMs: 80 }, final(`R${round}`)]])}`),
      other.startTurn(sol.threadId, `bare ${round} ${script([[{ delayMs: 80 }, final(`B${round}`)]])}`),
    ]);
    const told = await replyTo(a, id);
    expect(told.kind).toBe('answer');
    const own = { body: `R${round}`, label: '' };
    const shared = { body: `B${round}`, label: `given together with a line typed at ${sol.name}'s terminal` };
    expect([own, shared]).toContainEqual({ body: told.body, label: told.label });
  }
  await nothingMoreComes();
});

test('a `now` right after reopening in the middle of a turn steers it', async () => {
  const running = await other.startTurn(
    sol.threadId,
    `long ${script([[{ hold: 'reopen' }, final('never')]])}`,
  );
  await sol.process.stop();
  sol = await openSol(bench, [], sol.name);
  const id = await send(a, `urgent ${script([[final('steered in')]])}`, { priority: 'now' });
  expect(await replyTo(a, id)).toEqual(answered('steered in'));
  expect((await other.turnEnd(running)).status).toBe('completed');
  bench.model.release('reopen');
});

test('a message that comes while the thread is compacted waits for the end of it', async () => {
  const first = await send(a, 'something to compact');
  await replyTo(a, first);
  bench.model.on(/compact|summar/i, [[{ delayMs: 600 }, final('summary')]]);
  const mark = other.mark;
  await other.call('thread/compact/start', { threadId: sol.threadId });
  await other.wait('turn/started', { from: mark });
  const next = await send(a, `next ${script([[final('after it')]])}`);
  const now = await send(b, `now ${script([[final('urgent after it')]])}`, { priority: 'now' });
  expect((await replyTo(a, next)).kind).toBe('answer');
  expect((await replyTo(b, now)).kind).toBe('answer');
  await nothingMoreComes();
  expect([repliesTo(a, next), repliesTo(b, now)]).toEqual([1, 1]);
});

test('a steer behind a running tool that Esc takes away is reported as not taken', async () => {
  const tool = { call: 'exec_command', args: { cmd: 'sleep 20', yield_time_ms: 30_000 } };
  const first = await send(a, `tool ${script([[tool]])}`);
  await item('started', ({ type }) => type === 'commandExecution');
  const steer = await send(b, 'lost', { priority: 'now' });
  await sleep(500);
  const [turn] = await other.turns(sol.threadId);
  await other.call('turn/interrupt', { threadId: sol.threadId, turnId: turn.id });
  expect(await replyTo(a, first)).toMatchObject({ kind: 'note', outcome: 'no-answer' });
  const told = await replyTo(b, steer);
  expect(told).toMatchObject({ kind: 'note', outcome: 'not-taken' });
  expect(told.body).toContain('safe to send again');
  const items = (await other.turns(sol.threadId)).flatMap((one) => one.items);
  expect(JSON.stringify(items)).not.toContain('lost');
});

test('a final that a later user item closed is the answer, though the turn is interrupted', async () => {
  const first = await send(a, `one ${script([[final('A1'), { hold: 'closed' }]])}`);
  await item('completed', ({ text }) => text === 'A1');
  const steer = await send(b, `two ${script([[commentary('half'), { hold: 'closed' }]])}`, {
    priority: 'now',
  });
  await item('completed', ({ text }) => text === 'half');
  const [turn] = await other.turns(sol.threadId);
  await other.call('turn/interrupt', { threadId: sol.threadId, turnId: turn.id });
  expect(await replyTo(a, first)).toEqual(answered('A1'));
  const told = await replyTo(b, steer);
  expect(told).toMatchObject({ kind: 'note', outcome: 'no-answer' });
  expect(told.body).toMatch(/interrupted[\s\S]*half/);
  bench.model.release('closed');
});

test('the answer is found behind more than a hundred items of its turn', async () => {
  const talk = Array.from({ length: 120 }, (_, index) => commentary(`step ${index}`));
  const id = await send(a, `much ${script([[...talk, final('at the end')]])}`);
  expect(await replyTo(a, id)).toEqual(answered('at the end'));
  const [turn] = await other.turns(sol.threadId);
  expect(turn.items.length).toBeGreaterThan(120);
});

describe('what Codex makes of a turn decides between one answer and one note', () => {
  const usageLimit = {
    status: 429,
    body: {
      error: {
        type: 'usage_limit_reached',
        message: 'The usage limit has been reached',
        resets_in_seconds: 3600,
      },
    },
  };
  test.each<[string, Rounds, object, RegExp]>([
    [
      'a failing model',
      [[{ status: 500 }]],
      { kind: 'note', outcome: 'no-answer' },
      /failed\] .*Codex says: .*demand/,
    ],
    ['a used-up plan', [[usageLimit]], { kind: 'note', outcome: 'no-answer' }, /usage-limit\] .*usage limit/],
    [
      'a cut stream',
      [[commentary('half'), { cut: true }]],
      { kind: 'note', outcome: 'no-answer' },
      /failed\] .*half/s,
    ],
    [
      'a turn with commentary only',
      [[commentary('hm')]],
      { kind: 'note', outcome: 'no-answer' },
      /no-final\] .*hm/s,
    ],
    ['a message without a phase', [[{ text: 'plain' }]], { kind: 'answer' }, /^plain$/],
    [
      'partial answers',
      [[{ text: 'P1', phase: 'partial_answer' }, { text: 'P2', phase: 'partial_answer' }, final('F')]],
      { kind: 'answer' },
      /^P1\n\nP2\n\nF$/,
    ],
    ['two finals', [[final('first'), final('second')]], { kind: 'answer' }, /^second$/],
  ])('%s', async (_, rounds, expected, body) => {
    const id = await send(a, `go ${script(rounds)}`);
    const told = await replyTo(a, id, 20_000);
    expect(told).toMatchObject(expected);
    expect(told.body).toMatch(body);
    await nothingMoreComes();
    expect(repliesTo(a, id)).toBe(1);
  });
});

test('an answer that fits no frame is cut, and the rest is in a file that its sender is given', async () => {
  const long = `begin ${'"quoted"-ünï-'.repeat(90_000)} end`;
  bench.model.on(/write at length/, [[final(long)]]);
  const told = await replyTo(a, await send(a, 'write at length'), 30_000);
  const [, head, size, file] =
    /^([\s\S]*)\n\n\[The text goes on: (\d+) bytes in all, in the file (.*)\]$/.exec(told.body) ?? [];
  expect(long.startsWith(head ?? '-')).toBe(true);
  expect(Number(size)).toBe(Buffer.byteLength(readFileSync(file ?? '')));
  expect(readFileSync(file ?? '', 'utf8')).toMatch(/^begin [\s\S]*end\n\n\(answer to [0-9a-f]{8}\)$/);
});
