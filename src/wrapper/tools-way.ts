import type { HarnessThread } from '../harness/harness.ts';
import type { Log } from '../os/log.ts';
import { shellWord } from '../os/terminal.ts';
import { TOOLS } from '../tools/definitions.ts';
import type { ThreadTools } from './thread-tools.ts';

/** How the thread's model reaches our tools: its own ones, those of `peer mcp`, or not at all. */
export type ToolsWay = ThreadTools | 'mcp';

/** The name that docs/guide-mcp.md gives `peer mcp` in Codex's configuration. */
const MCP_NAME = 'peer';
/** A server that starts with the thread takes half a second; nobody waits for a slow one. */
const MCP_LIMIT_MS = 3_000;

/** What a thread without tools of its own has instead; `peer mcp` needs our control socket. Never rejects. */
export async function toolsWay(
  thread: HarnessThread,
  noted: ThreadTools,
  hasControl: boolean,
  log: Log,
): Promise<ToolsWay> {
  if (noted === 'dynamic' || !hasControl) return noted;
  try {
    const tools = (await thread.mcpTools(MCP_NAME, MCP_LIMIT_MS)) ?? [];
    return TOOLS.every(({ name }) => tools.includes(name)) ? 'mcp' : 'none';
  } catch (error) {
    log.write('mcp-status-unknown', { error: String(error) });
    return 'none';
  }
}

/** The same for a person, within a line. */
export const TOOLS_WAY = { dynamic: "the thread's own", mcp: 'peer mcp', none: 'none' } as const;

/** What to do about a peer that can only answer. */
export function toolsRemedy(name: string): string {
  const what = `${name} can answer but write to nobody: its thread was started without peer's tools.`;
  const remedy = 'Give Codex the server `peer mcp` (docs/guide-mcp.md has the lines), or start a new thread';
  return `${what} ${remedy}: peer open ${shellWord(name)} --new`;
}
