import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ToolResult } from '../../src/harness/harness.ts';
import { LIMITS } from '../../src/limits.ts';
import { Tools } from '../../src/tools/call.ts';
import type { Word } from '../../src/tools/courier.ts';
import { agent, FakeCourier } from './fake-courier.ts';

let courier: FakeCourier;
let tools: Tools;
/** Calls that the harness holds open. */
let open: Set<string>;
let results: [string, ToolResult][];

beforeEach(() => {
  vi.useFakeTimers();
  courier = new FakeCourier();
  open = new Set();
  results = [];
  tools = new Tools(courier, (callId, result) => {
    const isOpen = open.delete(callId);
    if (isOpen) results.push([callId, result]);
    return isOpen;
  });
});
afterEach(() => vi.useRealTimers());

async function ask(callId: string, given: object = {}): Promise<void> {
  open.add(callId);
  tools.call({ callId, turnId: 't1', tool: 'ask', arguments: { to: 'Luna', text: 'why?', ...given } });
  await vi.advanceTimersByTimeAsync(0);
}

/** Esc, a lost connection, or another client: the harness takes no answer any more. */
function cutOff(callId: string): void {
  open.delete(callId);
  tools.ended(callId);
}

const reply = (text: string, queue = () => {}): Word => ({ type: 'reply', isAnswer: true, text, queue });

describe('an open question', () => {
  test('is answered by the reply alone, which starts no turn', async () => {
    await ask('c1');
    expect(courier.sends[0]).toMatchObject({ text: 'why?', isAsk: true, wantsIdleNotice: true });
    await vi.advanceTimersByTimeAsync(600_000);
    expect(results).toEqual([]);
    const queue = vi.fn();
    courier.sends[0]?.hear(reply('because', queue));
    expect(results).toEqual([['c1', { success: true, text: 'Answer from Luna:\n\nbecause' }]]);
    expect(courier.sends[0]?.isLeft).toBe(true);
    expect(queue).not.toHaveBeenCalled();
  });

  test.each<[Word, RegExp]>([
    [
      { type: 'reply', isAnswer: false, text: '[no answer: closed]', queue() {} },
      /^Luna gives no answer:\n\n\[no answer: closed\]$/,
    ],
    [
      { type: 'idle', detail: 'tests\npass' },
      /^Luna went idle without answering your question id1\. Its last words: tests pass$/,
    ],
    [{ type: 'gone' }, /^Luna ended before it answered\./],
    [{ type: 'crossed' }, /^Luna asked you at the same moment, so neither waits for the other\./],
    [{ type: 'receipt', status: 'refused', reason: 'off' }, /was refused there.* It says: off$/],
    [{ type: 'receipt', status: 'denied', reason: null }, /was denied by the person there/],
    [{ type: 'receipt', status: 'expired', reason: null }, /was not approved there in time/],
    [{ type: 'receipt', status: 'dropped', reason: null }, /treat it as unsent\.$/],
  ])('ends without an answer: %j', async (word, text) => {
    await ask('c1');
    courier.sends[0]?.hear(word);
    courier.sends[0]?.hear(reply('too late'));
    expect(results).toEqual([['c1', { success: false, text: expect.stringMatching(text) }]]);
  });

  test('ends at its deadline', async () => {
    await ask('c1', { deadline_seconds: 30 });
    await vi.advanceTimersByTimeAsync(29_999);
    expect(results).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(results[0]?.[1].text).toMatch(/^No answer from Luna within 30 s\..*Do not ask the same again\.$/);
    expect(courier.sends[0]?.isLeft).toBe(true);
  });

  test('ends when the message could not be written', async () => {
    courier.write = async () => ({ delivery: 'not-sent', reason: 'It is gone.' });
    await ask('c1');
    expect(results).toEqual([['c1', { success: false, text: 'It is gone.' }]]);
  });

  test('ends when the peer closes, and no other begins', async () => {
    await ask('c1');
    tools.close();
    expect(results[0]?.[1].text).toBe("Sol is being closed, so nobody waits for Luna's answer any more.");
    await ask('c2');
    expect(courier.sends).toHaveLength(1);
    expect(results[1]?.[0]).toBe('c2');
  });

  test('that is held goes on: an idle notice then is not about it, and is asked for again afterwards', async () => {
    await ask('c1');
    courier.sends[0]?.hear({ type: 'receipt', status: 'held', reason: null });
    courier.sends[0]?.hear({ type: 'idle', detail: null });
    expect([results, courier.sends[0]?.subscriptions]).toEqual([[], 0]);
    courier.sends[0]?.hear({ type: 'receipt', status: 'delivered', reason: null });
    expect([results, courier.sends[0]?.subscriptions]).toEqual([[], 1]);
    courier.sends[0]?.hear({ type: 'idle', detail: null });
    expect(results[0]?.[1].text).toMatch(/^Luna went idle/);
  });

  test('is not asked of somebody who stands still until our answer', async () => {
    courier.waiting.add('Luna');
    await ask('c1');
    expect(courier.sends).toEqual([]);
    expect(results[0]?.[1].text).toMatch(/^Not asked: Luna stands still until you answer its question/);
  });

  test('beyond the cap is refused', async () => {
    for (let n = 0; n <= LIMITS.openAsks; n++) await ask(`c${n}`);
    expect(courier.sends).toHaveLength(LIMITS.openAsks);
    expect(results[0]?.[1].text).toMatch(/^Not asked: 32 questions of yours wait/);
  });
});

describe('a question whose call was cut off', () => {
  test('is not asked twice: the same one of the next turn goes on waiting for it', async () => {
    await ask('c1');
    cutOff('c1');
    await ask('c2');
    expect(courier.sends).toHaveLength(1);
    courier.sends[0]?.hear(reply('because'));
    expect(results).toEqual([['c2', { success: true, text: 'Answer from Luna:\n\nbecause' }]]);
  });

  test('gives a reply that came in between to the call that asks the same', async () => {
    await ask('c1');
    open.clear();
    tools.disconnected();
    const queue = vi.fn();
    courier.sends[0]?.hear(reply('because', queue));
    await ask('c2');
    tools.idle();
    expect(results).toEqual([['c2', { success: true, text: 'Answer from Luna:\n\nbecause' }]]);
    expect(queue).not.toHaveBeenCalled();
  });

  test('goes on under the same call when that comes again', async () => {
    await ask('c1');
    open.clear();
    tools.disconnected();
    courier.sends[0]?.hear(reply('because'));
    await ask('c1');
    expect(courier.sends).toHaveLength(1);
    expect(results).toEqual([['c1', { success: true, text: 'Answer from Luna:\n\nbecause' }]]);
  });

  test('makes its reply a message once no turn runs that could ask again', async () => {
    await ask('c1');
    cutOff('c1');
    const queue = vi.fn();
    courier.sends[0]?.hear(reply('because', queue));
    expect(queue).not.toHaveBeenCalled();
    tools.idle();
    tools.idle();
    expect(queue).toHaveBeenCalledTimes(1);
  });

  test('makes its reply a message at once while the thread is idle', async () => {
    await ask('c1');
    cutOff('c1');
    courier.isThreadIdle = true;
    const queue = vi.fn();
    courier.sends[0]?.hear(reply('because', queue));
    expect(queue).toHaveBeenCalledTimes(1);
  });

  test('that nobody noticed yet does not lose its reply', async () => {
    await ask('c1');
    open.clear();
    const queue = vi.fn();
    courier.sends[0]?.hear(reply('because', queue));
    tools.idle();
    expect([results, queue.mock.calls.length]).toEqual([[], 1]);
  });

  test('and ends without a reply is told with the next message', async () => {
    await ask('c1');
    cutOff('c1');
    courier.isThreadIdle = true;
    courier.sends[0]?.hear({ type: 'gone' });
    expect(courier.toldLater).toEqual([expect.stringMatching(/^Luna ended before it answered/)]);
  });

  test('has its reply given away before the peer closes', async () => {
    await ask('c1');
    cutOff('c1');
    const queue = vi.fn();
    courier.sends[0]?.hear(reply('because', queue));
    tools.close();
    expect(queue).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['another text', { text: 'what?' }, agent('Luna')],
    ['another process of that name', {}, agent('Luna', 101)],
  ])('is not what is asked with %s', async (_, given, present) => {
    await ask('c1');
    cutOff('c1');
    courier.present = [present];
    await ask('c2', given);
    expect(courier.sends).toHaveLength(2);
  });

  test('is a question of its own while both calls are open', async () => {
    await ask('c1');
    await ask('c2');
    expect(courier.sends).toHaveLength(2);
  });
});
