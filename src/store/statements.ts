import type { Database, Statement } from './sqlite.ts';
import type { Stage } from './stage.ts';

export type Statements = Readonly<Record<keyof typeof SQL, Statement>>;

const SQL = {
  stage: `
    SELECT message.thread_id,
      claim.message_id IS NOT NULL AS is_claimed, claim.turn_id IS NOT NULL AS is_taken,
      outcome.message_id IS NOT NULL AS is_decided, reply.message_id IS NOT NULL AS is_reply_claimed,
      reply.noted_at_ms IS NOT NULL AS is_noted, reply.delivery IS NOT NULL AS is_told
    FROM message
    LEFT JOIN claim ON claim.message_id = message.id
    LEFT JOIN outcome ON outcome.message_id = message.id
    LEFT JOIN reply ON reply.message_id = message.id
    WHERE message.id = ?`,
  receive: `
    INSERT INTO message (id, thread_id, peer, received_by, received_at_ms, content) VALUES (?, ?, ?, ?, ?, ?)`,
  claim: `
    INSERT INTO claim (message_id, client_id, after_turn_id, claimed_by, claimed_at_ms) VALUES (?, ?, ?, ?, ?)`,
  withdraw: 'DELETE FROM claim WHERE message_id = ? AND claimed_by = ?',
  taken: 'UPDATE claim SET turn_id = ?, taken_at_ms = ? WHERE message_id = ? AND turn_id IS NULL',
  outcome: `
    INSERT INTO outcome (message_id, state, content, decided_by, decided_at_ms) VALUES (?, ?, ?, ?, ?)`,
  claimReply: 'INSERT INTO reply (message_id, claimed_by, claimed_at_ms) VALUES (?, ?, ?)',
  claimNote: 'UPDATE reply SET noted_by = ?, noted_at_ms = ? WHERE message_id = ? AND noted_at_ms IS NULL',
  call: 'SELECT 1 FROM outbound WHERE thread_id = ? AND call_id = ?',
  // Nothing is left open by a call: it is not made again, and goes when it is old.
  claimCall: `
    INSERT INTO outbound (thread_id, call_id, recorded_by, recorded_at_ms, request, result, settled_at_ms)
    VALUES (?, ?, ?, ?, 'null', 'null', ?)`,
  delivered: 'UPDATE reply SET delivery = ?, delivered_at_ms = ? WHERE message_id = ?',
} as const;

/** Everything a message or a call goes through, prepared once per connection. */
export function statements(db: Database): Statements {
  const prepared = Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)]);
  return Object.fromEntries(prepared) as Statements;
}

interface StageRow {
  readonly thread_id: string;
  readonly is_claimed: number;
  readonly is_taken: number;
  readonly is_decided: number;
  readonly is_reply_claimed: number;
  readonly is_noted: number;
  readonly is_told: number;
}

export interface StoredStage extends Stage {
  readonly threadId: string;
}

export function stageOf({ stage }: Statements, id: string): StoredStage | undefined {
  const row = stage.get(id) as StageRow | undefined;
  if (row === undefined) return undefined;
  return {
    threadId: row.thread_id,
    isClaimed: row.is_claimed === 1,
    isTaken: row.is_taken === 1,
    isDecided: row.is_decided === 1,
    isReplyClaimed: row.is_reply_claimed === 1,
    isNoted: row.is_noted === 1,
    isTold: row.is_told === 1,
  };
}
