import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { store } from './fixtures.ts';
import { advance, STEPS } from './steps.ts';

it('removes what was settled long ago, a batch at a time, and never what is open', async () => {
  using at = store();
  const before = await at.open();
  for (let index = 0; index < 45; index++) await advance(before.record, `old ${index}`, 'delivered');
  for (const step of STEPS) await advance(before.record, step, step);
  await advance(before.record, 'young', 'delivered');
  before.crash();
  const longAgo = Date.now() - LIMITS.retentionMs - 1_000;
  at.raw((db) => {
    db.exec(`UPDATE message SET received_at_ms = 0 WHERE id <> 'young'`);
    db.exec(`UPDATE claim SET claimed_at_ms = 0, taken_at_ms = 0`);
    db.exec(`UPDATE reply SET claimed_at_ms = 0, noted_at_ms = noted_at_ms * 0`);
    db.prepare(`UPDATE reply SET delivered_at_ms = ? WHERE message_id <> 'young'`).run(longAgo);
    db.exec(`INSERT INTO outbound
      SELECT NULL, thread_id, 'settled', instance, 0, '{}', '{}', 0 FROM owner UNION ALL
      SELECT NULL, thread_id, 'open', instance, 0, '{}', NULL, NULL FROM owner`);
  });

  const { record } = await at.open();
  const ids = (sql: string) =>
    at.raw((db) =>
      db
        .prepare(sql)
        .all()
        .map((row) => Object.values(row!)[0]),
    );
  const kept = STEPS.filter((step) => step !== 'delivered');
  while (ids('SELECT id FROM message').length > kept.length + 1) await delay(1);
  await record.restore();
  expect(ids('SELECT id FROM message ORDER BY seq')).toEqual([...kept, 'young']);
  expect(ids('SELECT call_id FROM outbound')).toEqual(['open']);
});

it('keeps what was settled within the time, and goes by when the sender was last heard of', async () => {
  using at = store();
  const before = await at.open();
  await advance(before.record, 'a', 'delivered');
  before.crash();
  at.raw((db) => {
    db.exec(`UPDATE message SET received_at_ms = 0`);
    db.prepare(`UPDATE reply SET claimed_at_ms = 0, delivered_at_ms = ?`).run(
      Date.now() - LIMITS.retentionMs + 60_000,
    );
  });
  const { record } = await at.open();
  await record.restore();
  expect(at.raw((db) => db.prepare('SELECT id FROM message').all())).toHaveLength(1);
});
