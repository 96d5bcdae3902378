import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ToolResult } from '../../src/harness/harness.ts';
import { RECEIPT_MS, sendMessage } from '../../src/tools/send-message.ts';
import { agent, FakeCourier } from './fake-courier.ts';

describe('send_message', () => {
  let courier: FakeCourier;
  beforeEach(() => {
    vi.useFakeTimers();
    courier = new FakeCourier();
  });
  afterEach(() => vi.useRealTimers());

  function send(notifyWhenIdle = false): Promise<ToolResult> {
    return sendMessage(courier, 't1', { to: 'Luna', text: 'hello', notifyWhenIdle });
  }

  async function sent() {
    await vi.advanceTimersByTimeAsync(0);
    return courier.sends[0]!;
  }

  test('waits 400 ms for a receipt, then says what it knows and who gets the final answer', async () => {
    const result = send();
    expect(await sent()).toMatchObject({ text: 'hello', turnId: 't1', isAsk: false, wantsIdleNotice: false });
    const isDone = vi.fn();
    void result.then(isDone);
    await vi.advanceTimersByTimeAsync(RECEIPT_MS - 1);
    expect(isDone).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await result).toEqual({
      success: true,
      text: 'Sent to Luna (id id1); whether it was read is not known. Nothing waits for an answer: one comes later as a message of its own. The final answer of this turn goes to whoever began t1.',
    });
    expect((await sent()).isLeft).toBe(true);
  });

  test.each([
    ['held', true, 'is held there until a person approves it. Do not send it again. You will be told'],
    ['refused', false, 'was refused there and is not delivered. Do not send it again. It says: no “thanks”'],
    ['dropped', false, 'was dropped there: treat it as unsent. It says: no “thanks”'],
    ['denied', false, 'was denied by the person there'],
  ] as const)('says at once that it was %s', async (status, success, words) => {
    const result = send();
    (await sent()).hear({ type: 'receipt', status, reason: 'no\n“thanks”' });
    const told = await result;
    expect(told.success).toBe(success);
    expect(told.text).toContain(`Your message id1 to Luna ${words}`);
  });

  test('sees a receipt that overtakes the end of the write', async () => {
    courier.write = async (send) => {
      await Promise.resolve();
      send.hear({ type: 'receipt', status: 'held', reason: null });
      return { delivery: 'written' };
    };
    expect((await send()).text).toContain('is held');
  });

  test.each(['not-sent', 'maybe-written'] as const)('that was %s says why', async (delivery) => {
    courier.write = async () => ({ delivery, reason: 'It hung up.' });
    expect(await send()).toEqual({ success: false, text: 'It hung up.' });
    expect(courier.sends[0]?.isLeft).toBe(true);
  });

  test('subscribes where that is possible, and says where it is not', async () => {
    const first = send(true);
    expect((await sent()).wantsIdleNotice).toBe(true);
    await vi.advanceTimersByTimeAsync(RECEIPT_MS);
    expect((await first).text).toMatch(
      /You will be told when Luna is next idle, with the next message you get\.$/,
    );
    courier.present = [agent('Luna', 100, { tellsWhenIdle: false })];
    const second = send(true);
    await vi.advanceTimersByTimeAsync(RECEIPT_MS);
    expect((await second).text).toMatch(
      /Luna gives no idle notices, so you will not be told when it is idle\.$/,
    );
    expect(courier.sends[1]?.wantsIdleNotice).toBe(false);
  });
});
