import { describe, expect, test } from 'vitest';
import { readTurns } from '../../src/harness/codex-history.ts';
import type { RpcClient } from '../../src/rpc/client.ts';

interface FakeTurn {
  readonly id: string;
  readonly status?: string;
  readonly rootTurnId?: string | null;
  readonly completedAt?: number | null;
  readonly error?: object;
  readonly items: readonly object[];
}

/** Pages of at most two turns and three items, oldest last. */
function history(turns: readonly FakeTurn[]) {
  const calls: string[] = [];
  const newestFirst = turns.toReversed();
  const call = async (method: string, params: Record<string, unknown>) => {
    const start = Number(params.cursor ?? 0);
    if (method === 'thread/turns/list') {
      calls.push(`turns ${params.itemsView} ${start}`);
      const isFull = params.itemsView === 'full';
      const data = newestFirst.slice(start, start + 2);
      return {
        data: data.map((turn) => ({ status: 'completed', ...turn, items: isFull ? turn.items : [] })),
        nextCursor: start + 2 < turns.length ? String(start + 2) : null,
      };
    }
    calls.push(`items ${params.turnId} ${start}`);
    const items = turns.find(({ id }) => id === params.turnId)?.items ?? [];
    return {
      data: items.slice(start, start + 3).map((item) => ({ turnId: params.turnId, item })),
      nextCursor: start + 3 < items.length ? String(start + 3) : null,
    };
  };
  return { rpc: { call } as unknown as RpcClient, calls };
}

const hasRested = () => true;
const user = (clientId: string | null) => ({ type: 'userMessage', clientId, content: [] });
const agent = (text: string, phase: string | null = 'final_answer') => ({
  type: 'agentMessage',
  text,
  phase,
});

describe('turns read back', () => {
  test('come oldest first, with every item of every page', async () => {
    const items = [user('peer:1'), ...Array.from({ length: 7 }, (_, n) => agent(`${n}`, 'commentary'))];
    const { rpc } = history([
      { id: 'a', items: [user(null)] },
      { id: 'b', items },
      { id: 'c', items: [] },
    ]);
    const turns = await readTurns({ rpc, threadId: 't', isLegacy: false, hasRested }, null);
    expect(turns.map(({ id, items: { length } }) => [id, length])).toEqual([
      ['a', 1],
      ['b', 8],
      ['c', 0],
    ]);
  });

  test('begin at the turn asked for and read no items of older ones', async () => {
    const { rpc, calls } = history(['a', 'b', 'c', 'd'].map((id) => ({ id, items: [] })));
    const turns = await readTurns({ rpc, threadId: 't', isLegacy: false, hasRested }, 'c');
    expect(turns.map(({ id }) => id)).toEqual(['c', 'd']);
    expect(calls).toEqual(['turns notLoaded 0', 'items c 0', 'items d 0']);
  });

  test('of a thread whose turn was reverted away do not cost the whole history', async () => {
    const id = (n: number) => `01a22e20-000${n}-7000-8000-000000000000`;
    const { rpc, calls } = history([1, 2, 3, 5].map((n) => ({ id: id(n), items: [] })));
    const turns = await readTurns({ rpc, threadId: 't', isLegacy: false, hasRested }, id(4));
    expect(turns.map((turn) => turn.id)).toEqual([id(5)]);
    expect(calls).toHaveLength(2);
  });

  test('of a legacy thread come with the turns, since it refuses items', async () => {
    const { rpc, calls } = history([{ id: 'a', items: [user('peer:1'), agent('hi')] }]);
    const turns = await readTurns({ rpc, threadId: 't', isLegacy: true, hasRested }, null);
    expect(turns[0]?.items).toHaveLength(2);
    expect(calls).toEqual(['turns full 0']);
  });

  test('hold what the reply rule looks at, and nothing else', async () => {
    const { rpc } = history([
      {
        id: 'b',
        rootTurnId: 'a',
        status: 'failed',
        error: { message: 'limit', codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 401 } } },
        items: [
          user('peer:1'),
          { type: 'reasoning' },
          agent('so', null),
          { type: 'functionCallOutput', name: 'peer' },
          { ...agent('by the way'), delivery: 'async' },
          { type: 'somethingNew' },
        ],
      },
    ]);
    const [turn] = await readTurns({ rpc, threadId: 't', isLegacy: false, hasRested }, null);
    expect(turn).toEqual({
      id: 'b',
      rootTurnId: 'a',
      status: 'failed',
      error: { message: 'limit', kind: 'httpConnectionFailed' },
      items: [
        { type: 'user', clientId: 'peer:1' },
        { type: 'other' },
        { type: 'agent', text: 'so', phase: null },
        { type: 'toolOutput', name: 'peer' },
        { type: 'agent', text: 'by the way', phase: 'commentary' },
        { type: 'other' },
      ],
    });
  });

  test('take a missing root for the turn itself and an unknown status for a running turn', async () => {
    const { rpc } = history([{ id: 'a', rootTurnId: null, status: 'pondering', items: [] }]);
    const [turn] = await readTurns({ rpc, threadId: 't', isLegacy: false, hasRested }, null);
    expect(turn).toMatchObject({ rootTurnId: 'a', status: 'inProgress', error: null });
  });

  test('of a thread that is idle only just now may end later: the newest one reads as running', async () => {
    const { rpc } = history([
      { id: 'a', status: 'interrupted', completedAt: null, items: [] },
      { id: 'b', status: 'interrupted', completedAt: null, items: [] },
    ]);
    const statuses = async (hasRested: () => boolean) =>
      (await readTurns({ rpc, threadId: 't', isLegacy: false, hasRested }, null)).map((turn) => turn.status);
    expect(await statuses(() => false)).toEqual(['interrupted', 'inProgress']);
    expect(await statuses(() => true)).toEqual(['interrupted', 'interrupted']);
    const stored = history([{ id: 'b', status: 'interrupted', completedAt: 1_796_072_160, items: [] }]);
    const [turn] = await readTurns(
      { rpc: stored.rpc, threadId: 't', isLegacy: false, hasRested: () => false },
      null,
    );
    expect(turn?.status).toBe('interrupted');
  });
});
