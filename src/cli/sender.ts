import type { Row } from '../registry/row.ts';

/** Claude Code 2.1.332 reads no longer name, and none with these characters. */
const NAME_CHARS = 64;
const UNREADABLE = /["<>\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * The name a command sends under: `cli-<pid>` for a person or script, `command of <session>` inside an agent's shell.
 * The session goes by its name when it is a peer itself.
 */
export function senderName(env: NodeJS.ProcessEnv, rows: readonly Row[], pid: number): string {
  const agent = agentOf(env);
  if (agent === null) return `cli-${pid}`;
  const session = clean(rows.find(agent.isItsRow)?.name ?? '') || clean(agent.label);
  return `command of ${session}`.slice(0, NAME_CHARS).trim();
}

/** True inside the shell of an agent: what is typed there is not a person's word. */
export function isAgentShell(env: NodeJS.ProcessEnv): boolean {
  return agentOf(env) !== null;
}

interface Agent {
  readonly label: string;
  readonly isItsRow: (row: Row) => boolean;
}

/** What Codex 0.171.0 and Claude Code 2.1.332 put into the environment of the commands they run. */
function agentOf(env: NodeJS.ProcessEnv): Agent | null {
  const {
    CODEX_THREAD_ID: threadId,
    CLAUDECODE,
    CLAUDE_CODE_SESSION_ID: sessionId,
    CLAUDE_PID,
    AI_AGENT,
  } = env;
  if (threadId)
    return { label: `Codex thread ${threadId.slice(0, 8)}`, isItsRow: (row) => row.sessionId === threadId };
  if (CLAUDECODE) {
    // The pid comes first: after /clear the session id in the environment is an old one.
    const isItsRow = CLAUDE_PID
      ? (row: Row) => row.pid === Number(CLAUDE_PID)
      : (row: Row) => sessionId !== undefined && row.sessionId === sessionId;
    return { label: `Claude session ${sessionId?.slice(0, 8) ?? ''}`, isItsRow };
  }
  return AI_AGENT ? { label: AI_AGENT, isItsRow: () => false } : null;
}

function clean(text: string): string {
  return text.replace(UNREADABLE, '').trim();
}
