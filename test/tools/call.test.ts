import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolResult } from '../../src/harness/harness.ts';
import { LIMITS } from '../../src/limits.ts';
import { Tools } from '../../src/tools/call.ts';
import { FakeCourier } from './fake-courier.ts';

/** Runs one call to its end. */
async function run(tool: string, given: unknown, courier = new FakeCourier()): Promise<ToolResult> {
  return new Promise((resolve) => {
    const tools = new Tools(courier, (_, result) => {
      resolve(result);
      return true;
    });
    tools.call({ callId: 'c1', turnId: 't1', tool, arguments: given });
  });
}

describe('arguments', () => {
  test.each([
    ['send_message', {}, '"to" is missing or wrong. send_message takes'],
    ['send_message', { to: ' ', text: 'x' }, '"to" is missing or wrong'],
    ['send_message', { to: 'Luna', text: '' }, '"text" is missing or wrong'],
    [
      'send_message',
      { to: 'Luna', text: 'x', notify_when_idle: 'yes' },
      '"notify_when_idle" is missing or wrong',
    ],
    ['send_message', 'Luna', 'its arguments are no object'],
    ['ask', null, 'its arguments are no object. ask takes'],
    ['ask', { to: 'Luna' }, '"text" is missing or wrong. ask takes'],
    ['ask', { to: 'Luna', text: 'x', deadline_seconds: 0 }, '"deadline_seconds" is missing or wrong'],
    ['ask', { to: 'Luna', text: 'x', deadline_seconds: 1e9 }, '"deadline_seconds" is missing or wrong'],
  ])('%s %j are refused with a sentence, and nothing is sent', async (tool, given, words) => {
    const courier = new FakeCourier();
    const result = await run(tool, given, courier);
    expect(result).toMatchObject({
      success: false,
      text: expect.stringContaining(`Nothing was done: ${words}`),
    });
    expect(courier.sends).toEqual([]);
  });

  test('of a model that is careless with types and fields are taken', async () => {
    const courier = new FakeCourier();
    courier.present = [{ ...courier.present[0]!, name: '100' }];
    await run('send_message', { to: 100, text: 'x', notify_when_idle: null, summary: 'x' }, courier);
    expect(courier.sends).toHaveLength(1);
    await run('list_agents', undefined, courier);
  });

  test('that name nobody give the reason of the search', async () => {
    const result = await run('ask', { to: 'Lna', text: 'x' });
    expect(result).toEqual({ success: false, text: 'No peer named "Lna" is running.' });
  });

  test('of a tool that is not ours are no reason to fail', async () => {
    expect(await run('dance', {})).toEqual({ success: false, text: 'There is no tool dance here.' });
  });

  test('that break something inside are answered all the same', async () => {
    const courier = new FakeCourier();
    courier.send = () => {
      throw new Error('boom');
    };
    const result = await run('send_message', { to: 'Luna', text: 'x' }, courier);
    expect(result.text).toBe(
      'send_message failed inside the peer: boom. Whether something was sent is not known.',
    );
  });
});

type Action =
  | { type: 'call'; callId: number }
  | { type: 'reply'; send: number }
  | { type: 'connection' }
  | { type: 'idle' };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('call' as const), callId: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('reply' as const), send: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.constant({ type: 'connection' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'idle' as const }) },
);

describe('a call', () => {
  test('sends once and has one result, however often it comes and connections break', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
        const courier = new FakeCourier();
        const open = new Set<string>();
        const results = new Map<string, ToolResult>();
        const queued: number[] = [];
        const tools = new Tools(courier, (callId, result) => {
          if (!open.delete(callId)) return false;
          expect(results.get(callId) ?? result).toEqual(result);
          results.set(callId, result);
          return true;
        });
        for (const one of actions) {
          if (one.type === 'call') {
            const callId = `c${one.callId}`;
            open.add(callId);
            tools.call({ callId, turnId: 't', tool: 'ask', arguments: { to: 'Luna', text: callId } });
            await new Promise(setImmediate);
            // What has a result gets it again, or its turn would hang.
            if (results.has(callId)) expect(open.has(callId)).toBe(false);
          } else if (one.type === 'reply') {
            const queue = () => queued.push(one.send);
            const text = `to ${courier.sends[one.send]?.text}`;
            courier.sends[one.send]?.hear({ type: 'reply', isAnswer: true, text, queue });
          } else if (one.type === 'connection') {
            open.clear();
            tools.disconnected();
          } else {
            tools.idle();
          }
        }
        const texts = courier.sends.map(({ text }) => text);
        expect(new Set(texts).size).toBe(texts.length);
        for (const [callId, { text }] of results) expect(text).toBe(`Answer from Luna:\n\nto ${callId}`);
        expect(new Set(queued).size).toBe(queued.length);
      }),
      { numRuns: 200 },
    );
  });

  test.each(['send_message', 'ask'])(
    'of %s that an earlier process of this peer made sends nothing, and says so',
    async (tool) => {
      const courier = new FakeCourier();
      courier.madeBefore.add('c1');
      const result = await run(tool, { to: 'Luna', text: 'x' }, courier);
      expect(result).toMatchObject({ success: false, text: expect.stringContaining('is not known') });
      expect(courier.sends).toEqual([]);
    },
  );

  test('that cannot be recorded sends nothing, and says so', async () => {
    const courier = new FakeCourier();
    courier.claimCall = () => Promise.reject(new Error('the disk is full'));
    const result = await run('send_message', { to: 'Luna', text: 'x' }, courier);
    expect(result).toEqual({ success: false, text: 'Nothing was sent: the disk is full' });
    expect(courier.sends).toEqual([]);
  });

  test('that comes again after its result gets the same one, without a second message', async () => {
    const courier = new FakeCourier();
    courier.write = async () => ({ delivery: 'not-sent', reason: 'gone' });
    const results: ToolResult[] = [];
    const tools = new Tools(courier, (_, result) => {
      results.push(result);
      return true;
    });
    const call = { callId: 'c1', turnId: 't', tool: 'send_message', arguments: { to: 'Luna', text: 'x' } };
    tools.call(call);
    tools.call(call);
    await new Promise(setImmediate);
    tools.call(call);
    expect(courier.sends).toHaveLength(1);
    expect(results).toEqual([
      { success: false, text: 'gone' },
      { success: false, text: 'gone' },
    ]);
  });

  test('that still waits is not forgotten for newer ones', async () => {
    const courier = new FakeCourier();
    courier.write = async (send) =>
      send.isAsk ? { delivery: 'written' } : { delivery: 'not-sent', reason: 'gone' };
    const tools = new Tools(courier, () => true);
    const call = (callId: string, tool: string) =>
      tools.call({ callId, turnId: 't', tool, arguments: { to: 'Luna', text: callId } });
    call('waits', 'ask');
    for (let n = 0; n <= LIMITS.toolCalls; n++) call(`c${n}`, 'send_message');
    await new Promise(setImmediate);
    const { length } = courier.sends;
    call('waits', 'ask');
    await new Promise(setImmediate);
    expect(courier.sends).toHaveLength(length);
  });

  test('is remembered as long as there are not too many newer ones', async () => {
    const courier = new FakeCourier();
    courier.write = async () => ({ delivery: 'not-sent', reason: 'gone' });
    const tools = new Tools(courier, () => true);
    const call = (callId: string) =>
      tools.call({ callId, turnId: 't', tool: 'send_message', arguments: { to: 'Luna', text: callId } });
    for (let n = 0; n <= LIMITS.toolCalls; n++) call(`c${n}`);
    await new Promise(setImmediate);
    call('c1');
    expect(courier.sends).toHaveLength(LIMITS.toolCalls + 1);
    call('c0');
    await new Promise(setImmediate);
    expect(courier.sends).toHaveLength(LIMITS.toolCalls + 2);
  });
});
