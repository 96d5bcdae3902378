import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { thisProcess } from '../../src/store/lease.ts';
import { openRecord } from '../../src/store/open.ts';
import { loadSqlite } from '../../src/store/sqlite.ts';
import { type Opened, type Store, store } from './fixtures.ts';
import { advance, message, unknown } from './steps.ts';

const sqlite = await loadSqlite();

/** Lets the file grow by so many pages, as a disk that is nearly full. */
function nearlyFull({ db }: Opened, pages: number): void {
  const count = Number(db.pragma('page_count', { simple: true }));
  db.pragma(`max_page_count = ${count + pages}`);
}

async function expectMemory(at: Store, reason: string): Promise<void> {
  const { record, durability } = await openRecord(at.options());
  expect(durability).toEqual({ none: reason });
  await advance(record, 'a', 'delivered');
  await record.close();
}

it('is the store where nothing stands against it', async () => {
  using at = store();
  const { record, durability } = await openRecord(at.options({ self: thisProcess() }));
  expect(durability).toBe('store');
  await record.receive(message('a'));
  await record.close();
  const next = await at.open();
  expect((await next.record.restore()).unclaimed).toEqual([message('a')]);
});

it('does not open in memory what another process serves', async () => {
  using at = store();
  await openRecord(at.options({ self: thisProcess() }));
  await expect(openRecord(at.options())).rejects.toMatchObject({ word: 'thread-taken' });
});

it('is the memory when the file is no store, and the file stays as it is', async () => {
  using at = store();
  (await at.open()).crash();
  writeFileSync(at.file, 'a letter, not a database');
  await expectMemory(at, 'it is damaged');
  expect(readFileSync(at.file, 'utf8')).toBe('a letter, not a database');
});

it('is the memory when a message that is open cannot be read', async () => {
  using at = store();
  const before = await at.open();
  await before.record.receive(message('a', { text: '~'.repeat(50_000) }));
  before.crash();
  const bytes = readFileSync(at.file);
  const page = Math.floor(bytes.indexOf('~'.repeat(4_000)) / 4_096);
  bytes.fill(0xff, page * 4_096, (page + 1) * 4_096);
  writeFileSync(at.file, bytes);
  await expectMemory(at, 'it is damaged');
});

it('is the memory when the file system refuses write-ahead logging', async () => {
  using at = store();
  class Refusing extends sqlite {
    override pragma(sql: string, options?: { simple: boolean }): unknown {
      return sql.startsWith('journal_mode') ? 'delete' : super.pragma(sql, options);
    }
  }
  const { durability } = await openRecord(at.options({ load: async () => Refusing }));
  expect(durability).toEqual({ none: 'its file system refuses write-ahead logging (delete)' });
});

it('refuses a message on a full disk, with nothing half written, and goes on when there is room', async () => {
  using at = store();
  const opened = await at.open();
  const { record } = opened;
  await record.receive(message('a'));
  nearlyFull(opened, 2);
  const large = message('b', { text: 'x'.repeat(100_000) });
  await expect(record.receive(large)).rejects.toMatchObject({
    word: 'store-failed',
    exitCode: 9,
    message: `The store ${at.file} cannot be used: the disk is full. Nothing was recorded. Free some space.`,
  });
  expect(record.message('b')).toBeUndefined();
  expect((await record.restore()).unclaimed).toEqual([message('a')]);

  await record.claim('a', { clientId: 'peer:a', afterTurnId: null });
  const answer = { state: 'answered', text: 'x'.repeat(100_000), together: null } as const;
  await expect(record.outcome('a', answer)).rejects.toThrow('the disk is full');
  expect((await record.restore()).claimed).toHaveLength(1);

  nearlyFull(opened, 1_000);
  await record.receive(large);
  expect(await record.outcome('a', answer)).toBe(true);
  opened.crash();
  const { record: after } = await at.open();
  const restored = await after.restore();
  expect(restored.unclaimed).toEqual([large]);
  expect(restored.untold).toEqual([{ message: message('a'), outcome: answer }]);
});

it('keeps its promise on a disk that fills up at any write', async () => {
  using at = store();
  const opened = await at.open();
  nearlyFull(opened, 12);
  const recorded: string[] = [];
  const decided: string[] = [];
  for (let index = 0; index < 60; index++) {
    const id = `m${index}`;
    const isRecorded = await opened.record.receive(message(id, { text: 'x'.repeat(900) })).then(
      () => recorded.push(id),
      () => false,
    );
    if (isRecorded)
      await opened.record.outcome(id, unknown).then(
        () => decided.push(id),
        () => {},
      );
  }
  expect(recorded.length).toBeGreaterThan(5);
  expect(recorded.length).toBeLessThan(60);
  opened.crash();
  const { record } = await at.open();
  const { unclaimed, untold } = await record.restore();
  expect(untold.map((each) => each.message.id)).toEqual(decided);
  expect(unclaimed.map(({ id }) => id)).toEqual(recorded.filter((id) => !decided.includes(id)));
});

it('writes to the disk before a call ends: nothing of it is lost with the power', async () => {
  using at = store();
  const { db } = await at.open();
  expect(db.pragma('synchronous', { simple: true })).toBe(2);
  expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
});

it('takes nothing after a close', async () => {
  using at = store();
  const { record } = await at.open();
  const last = record.receive(message('a'));
  await record.close();
  await record.close();
  await last;
  await expect(record.receive(message('b'))).rejects.toThrow('closed');
  const { record: next } = await at.open();
  expect((await next.restore()).unclaimed).toEqual([message('a')]);
});
