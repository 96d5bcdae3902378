import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { OTHER_THREAD, type Store, store } from './fixtures.ts';
import { advance, message, nothing } from './steps.ts';

/** Another process writes for so long, and the event loop turns meanwhile. */
async function locked<Result>(at: Store, durationMs: number, run: () => Promise<Result>) {
  const other = at.connect();
  let turns = 0;
  const ticks = setInterval(() => turns++, 1);
  other.exec('BEGIN IMMEDIATE');
  const running = run();
  await delay(durationMs);
  const turnsWhileLocked = turns;
  other.exec('ROLLBACK');
  clearInterval(ticks);
  return { result: await running, turnsWhileLocked };
}

it('waits for the lock of another process without holding its own terminal', async () => {
  using at = store();
  const { record } = await at.open();
  const { turnsWhileLocked } = await locked(at, 500, () => record.receive(message('a')));
  expect(turnsWhileLocked).toBeGreaterThan(4);
  expect(record.message('a')).toEqual(message('a'));
});

it('keeps the order of its calls while it waits', async () => {
  using at = store();
  const { record } = await at.open();
  const ids = Array.from({ length: 12 }, (_, index) => `m${11 - index}`);
  await locked(at, 200, () => Promise.all(ids.map((id) => advance(record, id, 'receive'))));
  expect((await record.restore()).unclaimed.map(({ id }) => id)).toEqual(ids);
});

it('refuses a message after three seconds, with nothing recorded, and goes on', async () => {
  using at = store();
  const { record } = await at.open();
  await advance(record, 'a', 'claim');
  const startMs = performance.now();
  let endMs = 0;
  const busy = { word: 'store-busy', exitCode: 9, message: expect.stringContaining(`fuser -v ${at.file}`) };
  await locked(at, LIMITS.recordMs + 500, async () => {
    const late = [
      expect(record.receive(message('b'))).rejects.toMatchObject(busy),
      expect(record.taken('a', 'turn-1')).rejects.toMatchObject(busy),
      expect(record.outcome('a', { state: 'unknown' })).rejects.toMatchObject(busy),
      expect(at.open({ threadId: OTHER_THREAD })).rejects.toMatchObject(busy),
    ];
    await Promise.all(late);
    endMs = performance.now();
  });
  // One limit for all that waited, not one after the other.
  expect(endMs - startMs).toBeGreaterThanOrEqual(LIMITS.recordMs);
  expect(endMs - startMs).toBeLessThan(LIMITS.recordMs + 1_000);
  expect(record.message('b')).toBeUndefined();
  expect(await record.restore()).toEqual({
    ...nothing,
    claimed: [expect.objectContaining({ isTaken: false })],
  });
  await record.receive(message('b'));
});
