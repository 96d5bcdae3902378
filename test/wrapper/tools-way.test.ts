import { expect, test, vi } from 'vitest';
import { toolsRemedy, toolsWay } from '../../src/wrapper/tools-way.ts';
import { FakeThread } from '../fake-harness.ts';

const OURS = ['list_agents', 'send_message', 'ask'];

function look(
  tools: readonly string[] | null | Error,
  noted: 'dynamic' | 'none' = 'none',
  hasControl = true,
) {
  const thread = new FakeThread();
  const mcpTools = vi.fn(async () => {
    if (tools instanceof Error) throw tools;
    return tools;
  });
  const logged: string[] = [];
  const log = { write: (event: string) => logged.push(event), hide() {}, close: async () => {} };
  const way = toolsWay(Object.assign(thread, { mcpTools }), noted, hasControl, log as never);
  return { way, mcpTools, logged };
}

test('a thread that was started with the tools has its own, and nobody is asked', async () => {
  const { way, mcpTools } = look(null, 'dynamic');
  expect(await way).toBe('dynamic');
  expect(mcpTools).not.toHaveBeenCalled();
});

test.each([
  ['all our tools', [...OURS, 'more'], 'mcp'],
  ['only some of them, as another server of that name may have', ['send_message'], 'none'],
  ['no server of that name', null, 'none'],
])('another one has what the server peer offers: %s', async (_what, tools, way) => {
  const found = look(tools);
  expect(await found.way).toBe(way);
  expect(found.mcpTools).toHaveBeenCalledWith('peer', expect.any(Number));
});

test('without a control socket the server peer is of no use, and nobody is asked', async () => {
  const { way, mcpTools } = look(OURS, 'none', false);
  expect(await way).toBe('none');
  expect(mcpTools).not.toHaveBeenCalled();
});

test('where it cannot be told there are none, and the log says why', async () => {
  const { way, logged } = look(new Error('no answer'));
  expect(await way).toBe('none');
  expect(logged).toEqual(['mcp-status-unknown']);
});

test('the remedy is a command that a shell takes', () => {
  expect(toolsRemedy('Sol Two')).toMatch(/: peer open "Sol Two" --new$/);
});
