import { expect, test } from 'vitest';
import { readCaller } from '../../src/mcp/caller.ts';

const NOBODY = { threadId: null, turnId: null, callId: null };

test('Codex names thread, turn and call on every call', () => {
  const turn = { thread_id: 't1', turn_id: 'u1', model: 'm', sandbox: 'read-only' };
  const meta = {
    callId: 'c1',
    threadId: 't1',
    sessionId: 's1',
    progressToken: 3,
    'x-codex-turn-metadata': turn,
  };
  expect(readCaller(meta)).toEqual({ threadId: 't1', turnId: 'u1', callId: 'c1' });
});

test.each([
  ['no meta', undefined],
  ["Claude Code's", { 'claudecode/toolUseId': 'toolu_1', progressToken: 2 }],
  ['an empty thread', { threadId: '', callId: '', 'x-codex-turn-metadata': { turn_id: '' } }],
  ['fields of another kind', { threadId: 7, callId: {}, 'x-codex-turn-metadata': 'x' }],
  ['no object', 'threadId'],
])('%s names nobody', (_what, meta) => expect(readCaller(meta)).toEqual(NOBODY));
