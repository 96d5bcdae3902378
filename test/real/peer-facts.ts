import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PublishedRow, rowsOf } from './claude-row.ts';
import type { World } from './temp.ts';

/** The row of the peer with this name, opening or open. */
export function rowOf({ env }: Pick<World, 'env'>, name: string): PublishedRow | undefined {
  return rowsOf(env).find((row) => row.name === name);
}

/** The files of a world's peers that must be gone when no peer is left: rows, keys and sockets. */
export function publishedFiles({ claudeDir, runtimeDir }: World): string[] {
  const folders = [join(claudeDir, 'sessions'), join(runtimeDir, 'cc-socks')];
  return folders.flatMap((folder) => namesIn(folder).map((name) => join(folder, name)));
}

/** What each turn of a thread was allowed, oldest first, as Codex itself wrote it down when the turn began. */
export function turnRights({ codexHome }: World, threadId: string): { sandbox: string; approval: string }[] {
  const names = readdirSync(join(codexHome, 'sessions'), { recursive: true, encoding: 'utf8' });
  const rollout = names.find((name) => name.endsWith(`${threadId}.jsonl`));
  if (rollout === undefined) return [];
  const lines = readFileSync(join(codexHome, 'sessions', rollout), 'utf8')
    .trim()
    .split('\n');
  const records = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'turn_context');
  return records.map(({ payload }) => ({
    sandbox: payload.sandbox_policy.type,
    approval: payload.approval_policy,
  }));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
