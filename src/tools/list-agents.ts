import type { ToolResult } from '../harness/harness.ts';
import type { Agent, Courier } from './courier.ts';
import { done, foreign } from './sentences.ts';

/** Everybody else, one line each. */
export async function listAgents(courier: Courier): Promise<ToolResult> {
  const agents = await courier.agents();
  const you = `You are ${courier.name}.`;
  if (agents.length === 0) return done(`${you} Nobody else is here whom you could message.`);
  return done([`${you} You can message:`, ...agents.map(agentLine)].join('\n'));
}

const KINDS = { claude: 'Claude session', codex: 'Codex peer' } as const;

/** One agent as the model is shown it; foreign strings are made safe. */
export function agentLine({ name, kind, status, waitingFor, model, cwd, address }: Agent): string {
  const state = waitingFor === null ? status : `${status}: ${waitingFor}`;
  const facts = [KINDS[kind], state, model, cwd, `pid ${address.pid}`];
  return `- ${foreign(name)} (${facts.flatMap((fact) => (fact ? [foreign(fact)] : [])).join(', ')})`;
}
