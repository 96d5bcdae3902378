import type { Message, Outcome, Restored } from './record.ts';
import type { Database } from './sqlite.ts';

interface OpenRow {
  readonly id: string;
  readonly thread_id: string;
  readonly received_at_ms: number;
  readonly content: string;
  readonly is_claimed: number;
  readonly client_id: string | null;
  readonly after_turn_id: string | null;
  readonly turn_id: string | null;
  readonly outcome: string | null;
  readonly is_reply_claimed: number;
}

interface Opener {
  readonly threadId: string;
  readonly name: string;
  readonly instance: string;
  /** Whether somebody else may be serving that thread: what is open there is theirs. */
  readonly isServed: (threadId: string) => boolean;
}

/** Reads what is open of a thread, and what is open of a name in threads that nobody serves. */
export function readOpen(db: Database, { threadId, name, isServed }: Opener): Restored {
  const rows = (db.prepare(OPEN).all(threadId, name) as OpenRow[]).filter(
    (row) => row.thread_id === threadId || !isServed(row.thread_id),
  );
  const undecided = rows.filter((row) => row.outcome === null);
  const own = undecided.filter((row) => row.thread_id === threadId);
  const foreign = undecided.filter((row) => row.thread_id !== threadId);
  const decided = rows.flatMap(({ outcome, ...row }) =>
    outcome === null
      ? []
      : [{ ...row, decided: { message: messageOf(row), outcome: JSON.parse(outcome) as Outcome } }],
  );
  return {
    unclaimed: own.filter((row) => row.is_claimed === 0).map(messageOf),
    claimed: own
      .filter((row) => row.is_claimed === 1)
      .map(({ client_id: clientId, after_turn_id: afterTurnId, turn_id: turnId, ...row }) => {
        return { message: messageOf(row), clientId, afterTurnId, turnId, isTaken: turnId !== null };
      }),
    untold: decided.filter((row) => row.is_reply_claimed === 0).map((row) => row.decided),
    halfTold: decided.filter((row) => row.is_reply_claimed === 1).map((row) => row.decided),
    foreign: foreign.map((row) => ({ message: messageOf(row), isClaimed: row.is_claimed === 1 })),
  };
}

/**
 * A process that was killed while it wrote the note about a half told message: whether that arrived is not known
 * either, and nothing more is said.
 */
export function giveUpNotes(db: Database, { threadId, name, instance, isServed }: Opener): void {
  const rows = db.prepare(HALF_NOTED).all(threadId, name, instance) as { id: string; thread_id: string }[];
  const update = db.prepare(
    `UPDATE reply SET delivery = 'maybe-written', delivered_at_ms = ? WHERE message_id = ?`,
  );
  for (const row of rows) {
    if (row.thread_id === threadId || !isServed(row.thread_id)) update.run(Date.now(), row.id);
  }
}

export function contentOf({ id: _id, receivedAtMs: _receivedAtMs, ...content }: Message): string {
  return JSON.stringify(content);
}

function messageOf(row: Pick<OpenRow, 'id' | 'received_at_ms' | 'content'>): Message {
  const content = JSON.parse(row.content) as Omit<Message, 'id' | 'receivedAtMs'>;
  return { id: row.id, ...content, receivedAtMs: row.received_at_ms };
}

const OPEN = `
  SELECT message.id, message.thread_id, message.received_at_ms, message.content,
    claim.message_id IS NOT NULL AS is_claimed, claim.client_id, claim.after_turn_id, claim.turn_id,
    outcome.content AS outcome, reply.message_id IS NOT NULL AS is_reply_claimed
  FROM message
  LEFT JOIN claim ON claim.message_id = message.id
  LEFT JOIN outcome ON outcome.message_id = message.id
  LEFT JOIN reply ON reply.message_id = message.id
  WHERE (message.thread_id = ? OR message.peer = ?) AND reply.delivery IS NULL AND reply.noted_at_ms IS NULL
  ORDER BY message.seq`;

const HALF_NOTED = `
  SELECT message.id, message.thread_id FROM message JOIN reply ON reply.message_id = message.id
  WHERE (message.thread_id = ? OR message.peer = ?) AND reply.delivery IS NULL AND reply.noted_by <> ?`;
