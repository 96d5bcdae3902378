import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../os/atomic.ts';
import { ensurePrivateDir, stateDir } from '../os/folders.ts';
import { TOOLS } from '../tools/definitions.ts';

/** How a thread has our tools: from its start, or not at all. */
export type ThreadTools = 'dynamic' | 'none';

/** Notes in a 0600 file that a thread was started with our tools: Codex 0.171.0 tells nobody which ones a thread has. */
export function noteTools(env: NodeJS.ProcessEnv, threadId: string): void {
  ensurePrivateDir(stateDir(env));
  ensurePrivateDir(folder(env));
  const names = TOOLS.map(({ name }) => name);
  writeAtomic(join(folder(env), threadId), `${JSON.stringify({ tools: names })}\n`, 0o600);
}

/** What was noted about a thread; one that was started elsewhere has none, as far as we know. */
export function toolsOf(env: NodeJS.ProcessEnv, threadId: string): ThreadTools {
  return existsSync(join(folder(env), threadId)) ? 'dynamic' : 'none';
}

function folder(env: NodeJS.ProcessEnv): string {
  return join(stateDir(env), 'threads');
}
