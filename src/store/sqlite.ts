import { chmodSync, closeSync, openSync } from 'node:fs';
import { errorCode, errorMessage } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { Unusable } from './failure.ts';
import { migrate } from './schema.ts';

/** What is used of better-sqlite3 12. Its own types are missing where the optional package could not be built. */
export interface Database {
  prepare(sql: string): Statement;
  exec(sql: string): unknown;
  pragma(sql: string, options?: { simple: boolean }): unknown;
  transaction<Result>(run: () => Result): { immediate(): Result };
  close(): unknown;
}

export interface Statement {
  run(...values: readonly Value[]): { readonly changes: number };
  get(...values: readonly Value[]): unknown;
  all(...values: readonly Value[]): unknown[];
}

export type Value = string | number | null;

export type Sqlite = new (file: string, options: { timeout: number }) => Database;

/** @throws Unusable when the package is missing or was not built for this Node */
export async function loadSqlite(): Promise<Sqlite> {
  try {
    // No literal: compiler and bundler have to do without the package.
    const name: string = 'better-sqlite3';
    const { default: sqlite } = (await import(name)) as { default: Sqlite };
    // The compiled part is loaded by the first one.
    new sqlite(':memory:', { timeout: 0 }).close();
    return sqlite;
  } catch (error) {
    const [why] = errorMessage(error).split('\n');
    const remedy = 'Install g++, make and python3, then peerwire again.';
    throw new Unusable(`better-sqlite3 cannot be loaded (${why})`, remedy, { cause: error });
  }
}

/**
 * Opens the store, creating it (0600) where it is missing, with its tables up to date. One attempt: while other
 * processes do the same it may be locked.
 */
export function connect(file: string, sqlite: Sqlite): Database {
  createPrivate(file);
  const db = new sqlite(file, { timeout: LIMITS.storeBusyMs });
  try {
    const mode = db.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal') {
      throw new Unusable(
        `its file system refuses write-ahead logging (${mode})`,
        'Set XDG_STATE_HOME to a local disk.',
      );
    }
    // Its default under WAL loses the last commits with the power.
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    // In KiB; better-sqlite3 would keep 16 MB of pages, and we read next to nothing twice.
    db.pragma('cache_size = -2000');
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Before SQLite makes it with the umask's mode; its `-wal` and `-shm` get the same one. */
function createPrivate(file: string): void {
  try {
    // Never opened when it exists: closing any descriptor of a file ends all POSIX locks the process has on it.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    chmodSync(file, 0o600);
  }
}
