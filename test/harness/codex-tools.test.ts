import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HarnessThread } from '../../src/harness/harness.ts';
import { until } from '../rpc/fake-app-server.ts';
import { FakeCodex, THREAD } from './fake-codex.ts';

const dynamicTools = [{ name: 'ask' }];
const CALL = {
  threadId: THREAD,
  turnId: 't1',
  callId: 'c1',
  namespace: null,
  tool: 'ask',
  arguments: { to: 'B' },
};

describe('a call of a tool of ours', () => {
  let codex: FakeCodex;
  let thread: HarnessThread;

  beforeEach(async () => {
    codex = await FakeCodex.start();
    thread = await codex.open({ dynamicTools, headless: false });
  });
  afterEach(() => codex[Symbol.asyncDispose]());

  const call = (id: number, changed: object = {}) =>
    codex.server.send({ id, method: 'item/tool/call', params: { ...CALL, ...changed } });

  const done = (fields: object) =>
    codex.server.notify('item/completed', {
      threadId: THREAD,
      turnId: 't1',
      item: { type: 'dynamicToolCall', id: 'c1', tool: 'ask', ...fields },
    });

  /** What the server was answered, once everything that was sent before is handled. */
  async function answers(): Promise<unknown[]> {
    const mark = codex.events.length;
    codex.server.send(codex.status({ type: 'idle' }));
    await until(() => codex.events.length > mark);
    const given = () => codex.server.received.filter((frame) => frame.method === undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
    return given().map(({ id, result, error }) => [id, result ?? error]);
  }

  const result = (text: string, success = true) => ({
    contentItems: [{ type: 'inputText', text }],
    success,
  });

  test('is told with a pane attached too, and answered once', async () => {
    call(0);
    await codex.heard('tool-call');
    expect(codex.events.at(-1)).toEqual({
      type: 'tool-call',
      callId: 'c1',
      turnId: 't1',
      tool: 'ask',
      arguments: { to: 'B' },
    });
    expect(thread.answerTool('c1', { text: 'yes', success: true })).toBe(true);
    expect(thread.answerTool('c1', { text: 'no', success: true })).toBe(false);
    expect(thread.answerTool('never called', { text: 'no', success: true })).toBe(false);
    expect(await answers()).toEqual([[0, result('yes')]]);
  });

  test.each([
    ['of another name', { tool: 'theirs' }],
    ['of a server’s tool with the same name', { namespace: 'mcp__x' }],
    ['on another thread', { threadId: '01a22e20-0000-7000-8000-00000000ffff' }],
  ])('is not what a call %s is', async (_, changed) => {
    call(0, changed);
    thread.answerTool('c1', { text: 'yes', success: true });
    expect(await answers()).toEqual([]);
    expect(codex.types).not.toContain('tool-call');
  });

  test('comes again after a reconnect, and the answer goes to the request that is open now', async () => {
    call(7);
    await codex.heard('tool-call');
    codex.server.drop();
    await codex.heard('ready', 2);
    expect(thread.answerTool('c1', { text: 'to nobody', success: true })).toBe(false);
    call(0);
    await codex.heard('tool-call', 2);
    thread.answerTool('c1', { text: 'late', success: false });
    expect(await answers()).toEqual([[0, result('late', false)]]);
  });

  test('is over when its turn is interrupted', async () => {
    call(0);
    done({ success: false, contentItems: [] });
    await codex.heard('tool-ended');
    thread.answerTool('c1', { text: 'yes', success: true });
    expect(await answers()).toEqual([]);
    expect(codex.logged).not.toContain('tool-answered-by-another');
  });

  test.each([
    [
      'an error',
      { success: false, contentItems: [{ type: 'inputText', text: 'dynamic tool request failed' }] },
    ],
    ['a result', { success: true, contentItems: [] }],
  ])('that another client answers with %s is over and logged', async (_, fields) => {
    call(0);
    done(fields);
    await codex.heard('tool-ended');
    expect(codex.logged).toContain('tool-answered-by-another');
  });

  test('that we answered ends without a word', async () => {
    call(0);
    await codex.heard('tool-call');
    thread.answerTool('c1', { text: 'no', success: false });
    done({ success: false, contentItems: [{ type: 'inputText', text: 'no' }] });
    await answers();
    expect(codex.types).not.toContain('tool-ended');
    expect(codex.logged).not.toContain('tool-answered-by-another');
  });
});
