import type { RpcClient } from '../rpc/client.ts';
import { mcpServerStatuses } from '../rpc/protocol.ts';

/**
 * The tools of one MCP server on a loaded thread; null when there is none of that name, or it is not connected.
 * Asked by its name: without one Codex 0.171.0 starts every configured server anew to answer, with one it uses the
 * thread's own connection, waits while that starts, and then answers within a millisecond.
 */
export async function mcpTools(
  rpc: RpcClient,
  threadId: string,
  serverName: string,
  timeoutMs: number,
): Promise<readonly string[] | null> {
  const params = { threadId, serverName, detail: 'toolsAndAuthOnly' };
  const { data } = mcpServerStatuses.parse(await rpc.call('mcpServerStatus/list', params, { timeoutMs }));
  const server = data.find(({ name, runtimeStatus }) => name === serverName && runtimeStatus === 'connected');
  return server === undefined ? null : Object.keys(server.tools ?? {});
}
