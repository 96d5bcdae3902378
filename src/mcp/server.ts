import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { ToolResult } from '../harness/harness.ts';
import { TOOLS, type ToolDefinition, type ToolName } from '../tools/definitions.ts';
import { VERSION } from '../version.ts';
import { readCaller } from './caller.ts';
import type { RoutedCall } from './route.ts';

/** The peer's tools as an MCP server of either era; what a call does is `run`'s. */
export function createServer(run: (call: RoutedCall) => Promise<ToolResult>): Server {
  const server = new Server({ name: 'peer', version: VERSION }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: TOOLS.map(shown) }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const { text, success } = await run({
      caller: readCaller(mcpReq._meta),
      tool: toolNamed(params.name),
      arguments: params.arguments ?? {},
      signal: mcpReq.signal,
    });
    return { content: [{ type: 'text', text }], isError: !success };
  });
  return server;
}

/** `readOnlyHint` lets Codex call a tool without approval, whatever its policy (0.171.0). */
function shown({ name, description, inputSchema }: ToolDefinition) {
  const annotations = { readOnlyHint: name === 'list_agents' };
  return { name, description, inputSchema: { ...inputSchema, type: 'object' as const }, annotations };
}

function toolNamed(name: string): ToolName {
  const tool = TOOLS.find((one) => one.name === name);
  if (tool === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${name}.`);
  return tool.name;
}
