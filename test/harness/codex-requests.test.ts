import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ServerRequests } from '../../src/harness/codex-requests.ts';
import type { RpcClient } from '../../src/rpc/client.ts';

describe('a question of the daemon', () => {
  const answers: unknown[] = [];
  const rpc = {
    reply: (id: number, result: object) => answers.push([id, result]),
    replyError: (id: number, code: number) => answers.push([id, code]),
  } as unknown as RpcClient;
  const log = { write() {} };
  beforeEach(() => {
    answers.length = 0;
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());

  const approval = (id: number) => ({ id, method: 'item/commandExecution/requestApproval', params: {} });

  test.each([
    ['item/commandExecution/requestApproval', { decision: 'decline' }],
    ['item/fileChange/requestApproval', { decision: 'decline' }],
    ['item/permissions/requestApproval', { permissions: {}, scope: 'turn' }],
    ['mcpServer/elicitation/request', { action: 'decline', content: null, _meta: null }],
    ['item/tool/requestUserInput', -32601],
    ['item/tool/call', -32601],
  ])(
    '%s is declined without a pane, after two seconds in which another client may be first',
    (method, answer) => {
      const requests = new ServerRequests(rpc, false, log);
      requests.add({ id: 0, method, params: {} });
      vi.advanceTimersByTime(1_999);
      expect(answers).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(answers).toEqual([[0, answer]]);
    },
  );

  test('that somebody else answered in time is left alone', () => {
    const requests = new ServerRequests(rpc, false, log);
    requests.add(approval(0));
    requests.resolved(0);
    vi.advanceTimersByTime(5_000);
    expect(answers).toEqual([]);
  });

  test('is the person’s while a pane is attached, and declined when the pane leaves it open', () => {
    const requests = new ServerRequests(rpc, true, log);
    requests.add(approval(0));
    vi.advanceTimersByTime(600_000);
    expect(answers).toEqual([]);
    requests.paneAttached(false);
    vi.advanceTimersByTime(2_000);
    expect(answers).toEqual([[0, { decision: 'decline' }]]);
  });

  test('becomes the person’s when a pane attaches in time', () => {
    const requests = new ServerRequests(rpc, false, log);
    requests.add(approval(0));
    vi.advanceTimersByTime(1_000);
    requests.paneAttached(true);
    vi.advanceTimersByTime(600_000);
    expect(answers).toEqual([]);
  });

  test('of a lost connection is forgotten: the next one sends it again', () => {
    const requests = new ServerRequests(rpc, false, log);
    requests.add(approval(0));
    requests.close();
    vi.advanceTimersByTime(5_000);
    expect(answers).toEqual([]);
  });
});
