import { expect, test, vi } from 'vitest';
import { ControlCalls } from '../../src/wrapper/control-calls.ts';

const call = (callId: string) => ({ callId, turnId: 't', tool: 'ask', arguments: {} });
const result = { text: 'yes', success: true };
const never = new AbortController().signal;

test('a call is open until it has its result', async () => {
  const calls = new ControlCalls();
  const waiting = calls.wait(call('a'), never, vi.fn());
  expect(calls.open).toEqual([call('a')]);
  expect(calls.answer('other', result)).toBe(false);
  expect(calls.answer('a', result)).toBe(true);
  expect(await waiting).toEqual(result);
  expect(calls.open).toEqual([]);
  expect(calls.answer('a', result)).toBe(false);
});

test('a call whose caller has given up is over and cannot be answered', async () => {
  const calls = new ControlCalls();
  const giveUp = new AbortController();
  const onAbandoned = vi.fn();
  const waiting = calls.wait(call('a'), giveUp.signal, onAbandoned);
  giveUp.abort();
  await expect(waiting).rejects.toMatchObject({ word: 'interrupted' });
  expect(onAbandoned).toHaveBeenCalledOnce();
  expect(calls.open).toEqual([]);
  expect(calls.answer('a', result)).toBe(false);
});

test('giving up after the result abandons nothing', async () => {
  const calls = new ControlCalls();
  const giveUp = new AbortController();
  const onAbandoned = vi.fn();
  const waiting = calls.wait(call('a'), giveUp.signal, onAbandoned);
  calls.answer('a', result);
  giveUp.abort();
  expect(await waiting).toEqual(result);
  expect(onAbandoned).not.toHaveBeenCalled();
});

test('a call that came twice is answered twice, and over when both have given up', async () => {
  const calls = new ControlCalls();
  const [first, second] = [new AbortController(), new AbortController()];
  const onAbandoned = vi.fn();
  const one = calls.wait(call('a'), first.signal, onAbandoned);
  const other = calls.wait(call('a'), second.signal, onAbandoned);
  expect(calls.open).toHaveLength(1);
  first.abort();
  await expect(one).rejects.toMatchObject({ word: 'interrupted' });
  expect(onAbandoned).not.toHaveBeenCalled();
  calls.answer('a', result);
  expect(await other).toEqual(result);
});
