import { describe, expect, it } from 'vitest';
import { openRecord } from '../../src/store/open.ts';
import { MIGRATIONS, migrate } from '../../src/store/schema.ts';
import { type Store, store, THREAD } from './fixtures.ts';
import { advance, message } from './steps.ts';

/** A store with one message at each of some steps, left by a process that was killed. */
async function left(at: Store): Promise<void> {
  const { record, crash } = await at.open({ instance: 'owner' });
  await advance(record, 'waiting', 'receive');
  await advance(record, 'claimed', 'claim');
  await advance(record, 'taken', 'taken');
  await advance(record, 'decided', 'outcome');
  await advance(record, 'replied', 'reply');
  await advance(record, 'told', 'delivered');
  crash();
}

describe('the tables themselves', () => {
  it.each([
    ['a second claim', `INSERT INTO claim VALUES ('claimed', 'x', NULL, 'owner', 0, NULL, NULL)`, 'UNIQUE'],
    [
      'a claim without the lease',
      `INSERT INTO claim VALUES ('waiting', 'x', NULL, 'me', 0, NULL, NULL)`,
      'lease',
    ],
    [
      'a claim after the outcome',
      `DELETE FROM claim WHERE message_id = 'decided' AND turn_id IS NULL;
       INSERT INTO claim VALUES ('decided', 'x', NULL, 'owner', 0, NULL, NULL)`,
      'has its outcome',
    ],
    ['a claim of nothing', `INSERT INTO claim VALUES ('none', 'x', NULL, 'owner', 0, NULL, NULL)`, 'lease'],
    ['other evidence', `UPDATE claim SET turn_id = 'other' WHERE message_id = 'taken'`, 'was taken'],
    ['a withdrawal after evidence', `DELETE FROM claim WHERE message_id = 'taken'`, 'was taken'],
    [
      'a message without the lease',
      `INSERT INTO message VALUES (99, 'm', '${THREAD}', 'Sol', 'me', 0, '{}')`,
      'lease',
    ],
    [
      'a message twice',
      `INSERT INTO message VALUES (99, 'told', '${THREAD}', 'Sol', 'owner', 0, '{}')`,
      'UNIQUE',
    ],
    [
      'a second outcome',
      `INSERT INTO outcome VALUES ('decided', 'unknown', '{}', 'owner', 0)`,
      'has its outcome',
    ],
    [
      'a replaced outcome',
      `REPLACE INTO outcome VALUES ('decided', 'unknown', '{}', 'owner', 0)`,
      'has its outcome',
    ],
    ['a changed outcome', `UPDATE outcome SET state = 'unknown' WHERE message_id = 'told'`, 'never changes'],
    ['a removed outcome', `DELETE FROM outcome WHERE message_id = 'decided'`, 'never changes'],
    [
      'an outcome of nothing',
      `INSERT INTO outcome VALUES ('none', 'unknown', '{}', 'owner', 0)`,
      'FOREIGN KEY',
    ],
    [
      'a reply before the outcome',
      `INSERT INTO reply (message_id, claimed_by, claimed_at_ms) VALUES ('taken', 'owner', 0)`,
      'FOREIGN KEY',
    ],
    [
      'a second reply',
      `INSERT INTO reply (message_id, claimed_by, claimed_at_ms) VALUES ('replied', 'owner', 0)`,
      'UNIQUE',
    ],
    ['a reply right given back', `DELETE FROM reply WHERE message_id = 'replied'`, 'given once'],
    ['the loss of a waiting message', `DELETE FROM message WHERE id = 'waiting'`, 'is open'],
    ['the loss of a claimed message', `DELETE FROM message WHERE id = 'taken'`, 'is open'],
    ['the loss of an untold message', `DELETE FROM message WHERE id = 'decided'`, 'is open'],
    ['the loss of a half told message', `DELETE FROM message WHERE id = 'replied'`, 'is open'],
    [
      'a call without the lease',
      `INSERT INTO outbound VALUES (1, '${THREAD}', 'c', 'me', 0, '{}', NULL, NULL)`,
      'lease',
    ],
    [
      'a call that is acted on twice',
      `INSERT INTO outbound VALUES (1, '${THREAD}', 'c', 'owner', 0, '{}', NULL, NULL);
       INSERT INTO outbound VALUES (2, '${THREAD}', 'c', 'owner', 0, '{}', NULL, NULL)`,
      'UNIQUE',
    ],
    [
      'the loss of an open call',
      `INSERT INTO outbound VALUES (1, '${THREAD}', 'c', 'owner', 0, '{}', NULL, NULL); DELETE FROM outbound`,
      'is open',
    ],
  ])('refuse %s', async (_what, sql, why) => {
    using at = store();
    await left(at);
    expect(() => at.raw((db) => db.exec(sql))).toThrow(why);
  });

  it('let go of a told message with all that hangs on it', async () => {
    using at = store();
    await left(at);
    const rows = (table: string) =>
      at.raw((db) => db.prepare(`SELECT 1 FROM ${table} WHERE message_id = 'told'`).all().length);
    expect(['claim', 'outcome', 'reply'].map(rows)).toEqual([1, 1, 1]);
    at.raw((db) => db.exec(`DELETE FROM message WHERE id = 'told'`));
    expect(['claim', 'outcome', 'reply'].map(rows)).toEqual([0, 0, 0]);
  });

  it('never give a number of the sequence again', async () => {
    using at = store();
    const { record } = await at.open();
    const newest = () =>
      at.raw((db) => (db.prepare('SELECT seq FROM message ORDER BY seq DESC').get() as { seq: number }).seq);
    await advance(record, 'a', 'delivered');
    const before = newest();
    at.raw((db) => db.exec('DELETE FROM message'));
    await record.receive(message('b'));
    expect(newest()).toBeGreaterThan(before);
  });
});

describe('a step to the next version', () => {
  const next = [
    ...MIGRATIONS,
    'ALTER TABLE message ADD COLUMN topic TEXT; CREATE TABLE role (name TEXT) STRICT',
  ];

  it('keeps what is there, and the older program then leaves the store alone', async () => {
    using at = store();
    await left(at);
    at.raw((db) => migrate(db, next));
    at.raw((db) => migrate(db, next));
    expect(at.raw((db) => db.prepare('SELECT id, topic FROM message').all())).toHaveLength(6);
    expect(at.raw((db) => db.pragma('user_version', { simple: true }))).toBe(2);

    const { durability, record } = await openRecord(at.options());
    expect(durability).toEqual({ none: 'a newer peer wrote it (version 2; this one knows 1)' });
    await record.receive(message('new'));
    expect(at.raw((db) => db.prepare('SELECT id FROM message').all())).toHaveLength(6);
  });

  it('is taken whole or not at all', async () => {
    using at = store();
    await left(at);
    const broken = [...MIGRATIONS, 'CREATE TABLE role (name TEXT) STRICT; CREATE TABLE message (x)'];
    expect(() => at.raw((db) => migrate(db, broken))).toThrow('already exists');
    expect(at.raw((db) => db.pragma('user_version', { simple: true }))).toBe(1);
    at.raw((db) => migrate(db, next));
  });
});
