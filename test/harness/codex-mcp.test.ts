import { expect, test } from 'vitest';
import { FakeCodex, THREAD } from './fake-codex.ts';

const connected = { name: 'peer', runtimeStatus: 'connected', tools: { ask: {}, send_message: {} } };

test.each([
  ['connected', [connected], ['ask', 'send_message']],
  ['failed', [{ ...connected, runtimeStatus: 'failed' }], null],
  ['of a state unknown', [{ ...connected, runtimeStatus: null }], null],
  ['absent', [], null],
  ['another one', [{ ...connected, name: 'other' }], null],
])('the tools of a server that is %s', async (_what, data, tools) => {
  await using codex = await FakeCodex.start();
  codex.server.on('mcpServerStatus/list', () => ({ data, nextCursor: null }));
  const thread = await codex.open();
  expect(await thread.mcpTools('peer', 1_000)).toEqual(tools);
});

test('the server is asked for by its name: without one Codex starts every server anew', async () => {
  await using codex = await FakeCodex.start();
  codex.server.on('mcpServerStatus/list', () => ({ data: [], nextCursor: null }));
  const thread = await codex.open();
  await thread.mcpTools('peer', 1_000);
  const asked = codex.server.received.find(({ method }) => method === 'mcpServerStatus/list');
  expect(asked?.params).toEqual({ threadId: THREAD, serverName: 'peer', detail: 'toolsAndAuthOnly' });
});

test('no answer within the limit, and no connection, are errors', async () => {
  await using codex = await FakeCodex.start();
  codex.server.on('mcpServerStatus/list', () => undefined);
  const thread = await codex.open();
  await expect(thread.mcpTools('peer', 50)).rejects.toMatchObject({ word: 'connection-closed' });
  await thread.close();
  await expect(thread.mcpTools('peer', 50)).rejects.toMatchObject({ word: 'connection-closed' });
});
