import { Unusable } from './failure.ts';
import type { Database } from './sqlite.ts';

/**
 * `content`, `request` and `result` are JSON with every lone surrogate and NUL escaped: text of others comes back as
 * it came. All other text is ours or the harness's: names, ids and words. Times are for people and for retention; what is first is told by `seq` alone.
 */
const VERSION_1 = `
  CREATE TABLE owner (
    thread_id TEXT PRIMARY KEY,
    peer TEXT NOT NULL,
    instance TEXT NOT NULL,
    pid INTEGER NOT NULL,
    proc_start TEXT,
    pid_domain TEXT NOT NULL,
    since_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE message (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    thread_id TEXT NOT NULL,
    peer TEXT NOT NULL COLLATE NOCASE,
    received_by TEXT NOT NULL,
    received_at_ms INTEGER NOT NULL,
    content TEXT NOT NULL
  ) STRICT;
  CREATE INDEX message_of_thread ON message (thread_id);
  CREATE INDEX message_of_peer ON message (peer);

  CREATE TABLE claim (
    message_id TEXT PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
    client_id TEXT,
    after_turn_id TEXT,
    claimed_by TEXT NOT NULL,
    claimed_at_ms INTEGER NOT NULL,
    turn_id TEXT,
    taken_at_ms INTEGER
  ) STRICT;

  CREATE TABLE outcome (
    message_id TEXT PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
    state TEXT NOT NULL,
    content TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    decided_at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE reply (
    message_id TEXT PRIMARY KEY REFERENCES outcome (message_id) ON DELETE CASCADE,
    claimed_by TEXT NOT NULL,
    claimed_at_ms INTEGER NOT NULL,
    noted_by TEXT,
    noted_at_ms INTEGER,
    delivery TEXT,
    delivered_at_ms INTEGER
  ) STRICT;
  CREATE INDEX reply_by_age ON reply (delivered_at_ms) WHERE delivery IS NOT NULL;

  CREATE TABLE outbound (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    recorded_by TEXT NOT NULL,
    recorded_at_ms INTEGER NOT NULL,
    request TEXT NOT NULL,
    result TEXT,
    settled_at_ms INTEGER,
    UNIQUE (thread_id, call_id)
  ) STRICT;

  CREATE TRIGGER message_needs_lease BEFORE INSERT ON message
  WHEN NOT EXISTS (
    SELECT 1 FROM owner WHERE thread_id = NEW.thread_id AND instance = NEW.received_by
  ) BEGIN SELECT RAISE(ABORT, 'lease'); END;

  CREATE TRIGGER claim_needs_lease BEFORE INSERT ON claim
  WHEN NOT EXISTS (
    SELECT 1 FROM message JOIN owner USING (thread_id)
    WHERE message.id = NEW.message_id AND owner.instance = NEW.claimed_by
  ) BEGIN SELECT RAISE(ABORT, 'lease'); END;

  CREATE TRIGGER outbound_needs_lease BEFORE INSERT ON outbound
  WHEN NOT EXISTS (
    SELECT 1 FROM owner WHERE thread_id = NEW.thread_id AND instance = NEW.recorded_by
  ) BEGIN SELECT RAISE(ABORT, 'lease'); END;

  CREATE TRIGGER claim_comes_before_outcome BEFORE INSERT ON claim
  WHEN EXISTS (SELECT 1 FROM outcome WHERE message_id = NEW.message_id)
  BEGIN SELECT RAISE(ABORT, 'the message has its outcome'); END;

  CREATE TRIGGER evidence_stays BEFORE UPDATE OF turn_id ON claim
  WHEN OLD.turn_id IS NOT NULL
  BEGIN SELECT RAISE(ABORT, 'the message was taken'); END;

  CREATE TRIGGER taken_claim_stays BEFORE DELETE ON claim
  WHEN OLD.turn_id IS NOT NULL AND EXISTS (SELECT 1 FROM message WHERE id = OLD.message_id)
  BEGIN SELECT RAISE(ABORT, 'the message was taken'); END;

  -- REPLACE deletes without firing a DELETE trigger.
  CREATE TRIGGER outcome_is_not_replaced BEFORE INSERT ON outcome
  WHEN EXISTS (SELECT 1 FROM outcome WHERE message_id = NEW.message_id)
  BEGIN SELECT RAISE(ABORT, 'the message has its outcome'); END;

  CREATE TRIGGER outcome_never_changes BEFORE UPDATE ON outcome
  BEGIN SELECT RAISE(ABORT, 'an outcome never changes'); END;

  CREATE TRIGGER outcome_stays BEFORE DELETE ON outcome
  WHEN EXISTS (SELECT 1 FROM message WHERE id = OLD.message_id)
  BEGIN SELECT RAISE(ABORT, 'an outcome never changes'); END;

  CREATE TRIGGER reply_right_stays BEFORE DELETE ON reply
  WHEN EXISTS (SELECT 1 FROM message WHERE id = OLD.message_id)
  BEGIN SELECT RAISE(ABORT, 'the right to reply is given once'); END;

  CREATE TRIGGER open_message_stays BEFORE DELETE ON message
  WHEN NOT EXISTS (SELECT 1 FROM reply WHERE message_id = OLD.id AND delivery IS NOT NULL)
  BEGIN SELECT RAISE(ABORT, 'the message is open'); END;

  CREATE TRIGGER open_call_stays BEFORE DELETE ON outbound
  WHEN OLD.result IS NULL
  BEGIN SELECT RAISE(ABORT, 'the call is open'); END;
`;

/** Each entry takes the store one version further. A released one never changes, and a new one only adds. */
export const MIGRATIONS: readonly string[] = [VERSION_1];

/** Brings the tables up to date, whole or not at all. @throws Unusable when a later release of ours wrote them */
export function migrate(db: Database, migrations: readonly string[] = MIGRATIONS): void {
  if (pending(db, migrations).length === 0) return;
  // Read again inside: another process may have been faster.
  db.transaction(() => {
    for (const sql of pending(db, migrations)) db.exec(sql);
    db.pragma(`user_version = ${migrations.length}`);
  }).immediate();
}

function pending(db: Database, migrations: readonly string[]): readonly string[] {
  const version = Number(db.pragma('user_version', { simple: true }));
  if (version > migrations.length) {
    const reason = `a newer peer wrote it (version ${version}; this one knows ${migrations.length})`;
    throw new Unusable(reason, 'Update peerwire.');
  }
  return migrations.slice(version);
}
