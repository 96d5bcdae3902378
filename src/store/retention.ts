import { LIMITS } from '../limits.ts';
import type { Database } from './sqlite.ts';

/** Messages removed at once: each may hold a megabyte, and the terminal waits meanwhile. */
const BATCH = 20;

/**
 * Removes some of what was settled longer ago than `LIMITS.retentionMs`, each message with all that hangs on it. What
 * is open stays, however old. One batch, within the caller's transaction.
 * @returns whether there may be more
 */
export function removeSettled(db: Database, nowMs: number): boolean {
  const beforeMs = nowMs - LIMITS.retentionMs;
  const messages = db.prepare(
    `DELETE FROM message WHERE id IN (
       SELECT message_id FROM reply WHERE delivery IS NOT NULL AND delivered_at_ms < ? LIMIT ?)`,
  );
  const calls = db.prepare(
    `DELETE FROM outbound WHERE seq IN (
       SELECT seq FROM outbound WHERE result IS NOT NULL AND settled_at_ms < ? LIMIT ?)`,
  );
  const removed = [messages, calls].map((statement) => statement.run(beforeMs, BATCH).changes);
  return removed.some((changes) => changes >= BATCH);
}
