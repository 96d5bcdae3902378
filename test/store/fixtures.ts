import { join } from 'node:path';
import { pidDomain } from '../../src/os/proc.ts';
import type { ProcessIdentity } from '../../src/store/lease.ts';
import type { MessageRecord } from '../../src/store/record.ts';
import { type Database, loadSqlite, type Sqlite } from '../../src/store/sqlite.ts';
import { openStore, type StoreOptions } from '../../src/store/store.ts';
import { tempFolder } from '../os/fixtures.ts';

export const THREAD = '0197a000-0000-7000-8000-000000000001';
export const OTHER_THREAD = '0197a000-0000-7000-8000-000000000002';

/** A process that is proven dead: Linux has no pid this high. */
export const DEAD: ProcessIdentity = { pid: 5_000_000, procStart: '1', pidDomain: pidDomain() };

export interface Opened {
  readonly record: MessageRecord;
  readonly db: Database;
  /** Leaves everything as a killed process does. */
  crash(): void;
}

export interface Store extends Disposable {
  readonly dir: string;
  readonly file: string;
  /** A peer that opens the store; as nobody says otherwise, in a process that is dead to all others. */
  open(options?: Partial<StoreOptions>): Promise<Opened>;
  options(options?: Partial<StoreOptions>): StoreOptions;
  /** A connection of another program. */
  connect(): Database;
  /** A look at the tables, or a hand in them. */
  raw<Result>(look: (db: Database) => Result): Result;
}

let instances = 0;

const sqlite = await loadSqlite();

/** A store in a folder of its own; nothing of it is left at the end. */
export function store(): Store {
  const folder = tempFolder();
  const dir = join(folder.path, 'peer');
  const file = join(dir, 'store.sqlite');
  const connections: Database[] = [];
  const keeping = keepingConnections(connections);
  const options = (changes: Partial<StoreOptions> = {}): StoreOptions => ({
    stateDir: dir,
    threadId: THREAD,
    name: 'Sol',
    instance: `instance-${instances++}`,
    self: DEAD,
    load: async () => keeping,
    ...changes,
  });
  return {
    dir,
    file,
    options,
    async open(changes) {
      const record = await openStore(options(changes));
      const db = connections.at(-1)!;
      return { record, db, crash: () => void db.close() };
    },
    connect() {
      const db = new sqlite(file, { timeout: 1_000 });
      connections.push(db);
      db.pragma('foreign_keys = ON');
      return db;
    },
    raw(look) {
      const db = this.connect();
      try {
        return look(db);
      } finally {
        db.close();
      }
    },
    [Symbol.dispose]() {
      for (const db of connections) db.close();
      folder[Symbol.dispose]();
    },
  };
}

function keepingConnections(connections: Database[]): Sqlite {
  return class extends sqlite {
    constructor(file: string, options: { timeout: number }) {
      super(file, options);
      connections.push(this as unknown as Database);
    }
  };
}
