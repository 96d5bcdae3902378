import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { claudeConfigDir } from './claude-home.ts';
import { poll } from './poll.ts';

/** The fields of a registry row that the benches look at; a row holds more. */
export interface PublishedRow {
  readonly pid: number;
  readonly sessionId: string;
  readonly name?: string;
  readonly status?: string;
  readonly messagingSocketPath?: string;
  readonly [field: string]: unknown;
}

/** All rows in the registry, live or not; one that is being written is left out. */
export function rowsOf(env: NodeJS.ProcessEnv): PublishedRow[] {
  const folder = join(claudeConfigDir(env), 'sessions');
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => /^\d+\.json$/.test(file)) : [];
  return files.flatMap((file) => readRow(join(folder, file)) ?? []);
}

/**
 * The row of a session started with `--name`, once everything is there. For about 10 ms the row has a name made of
 * the folder's and no status, and the socket can come up to 0.35 s later (2.1.332).
 */
export function waitForRow(
  env: NodeJS.ProcessEnv,
  matches: (row: PublishedRow) => boolean,
  timeoutMs: number,
  what: () => string,
): Promise<PublishedRow> {
  const isReady = (row: PublishedRow) => {
    const isSettled = row.nameSource !== 'derived' && row.status !== undefined;
    return matches(row) && isSettled && existsSync(row.messagingSocketPath ?? '');
  };
  return poll(() => rowsOf(env).find(isReady), timeoutMs, what);
}

/** Claude Code writes rows in place, so a torn one is normal: null, look again. */
function readRow(file: string): PublishedRow | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as PublishedRow;
  } catch {
    return null;
  }
}
