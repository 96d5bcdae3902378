import { expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { thisProcess } from '../../src/store/lease.ts';
import type { Restored } from '../../src/store/record.ts';
import { removeSettled } from '../../src/store/retention.ts';
import { OTHER_THREAD, type Store, store } from './fixtures.ts';
import { advance, claim, message, nothing, type Step, unknown } from './steps.ts';

const open = { message: message('a'), clientId: 'peer:a', afterTurnId: 'turn-0' };
const decided = {
  message: message('a'),
  outcome: { state: 'answered', text: 'answer to a', together: null },
} as const;

const deliveries = (at: Store) =>
  at.raw((db) =>
    db
      .prepare('SELECT delivery FROM reply')
      .all()
      .map((row) => Object.values(row!)[0]),
  );

it.each<[Step, Partial<Restored>]>([
  ['receive', { unclaimed: [message('a')] }],
  ['claim', { claimed: [{ ...open, turnId: null, isTaken: false }] }],
  ['taken', { claimed: [{ ...open, turnId: 'turn-1', isTaken: true }] }],
  ['outcome', { untold: [decided] }],
  ['reply', { halfTold: [decided] }],
  ['note', {}],
  ['delivered', {}],
])('a crash after "%s" leaves the message where it was', async (last, expected) => {
  using at = store();
  const before = await at.open();
  await advance(before.record, 'a', last);
  before.crash();
  const { record } = await at.open();
  expect(record.message('a')).toBeUndefined();
  expect(await record.restore()).toEqual({ ...nothing, ...expected });
  expect(record.message('a')).toEqual(Object.keys(expected).length > 0 ? message('a') : undefined);
});

it('what happened once before a crash does not happen again after it', async () => {
  using at = store();
  const before = await at.open();
  await advance(before.record, 'a', 'reply');
  before.crash();
  const { record } = await at.open();
  await expect(record.receive(message('a'))).rejects.toThrow('recorded already');
  await expect(record.claim('a', claim)).rejects.toThrow('has its outcome');
  expect(await record.outcome('a', unknown)).toBe(false);
  expect(await record.claimReply('a')).toBe(false);
  expect(await record.claimNote('a')).toBe(true);
});

it('a note that was interrupted is not written again: it may have arrived', async () => {
  using at = store();
  const before = await at.open();
  await advance(before.record, 'a', 'note');
  before.crash();
  const { record } = await at.open();
  await record.restore();
  expect(await record.claimNote('a')).toBe(false);
  expect(deliveries(at)).toEqual(['maybe-written']);
});

it('a note that is being written now is not given up by a second look', async () => {
  using at = store();
  const { record } = await at.open();
  await advance(record, 'a', 'note');
  expect(await record.restore()).toEqual(nothing);
  expect(deliveries(at)).toEqual([null]);
});

it('a claim of an earlier process is not withdrawn: only its own request can be refused', async () => {
  using at = store();
  const before = await at.open();
  await advance(before.record, 'a', 'claim');
  before.crash();
  const { record } = await at.open();
  await expect(record.withdraw('a')).rejects.toThrow('another process');
  expect((await record.restore()).claimed).toHaveLength(1);
});

it('goes on with the order of receipt, whatever the clock says', async () => {
  using at = store();
  const before = await at.open();
  await before.record.receive(message('first', { receivedAtMs: 2_000 }));
  await before.record.receive(message('second', { receivedAtMs: 1_000 }));
  before.crash();
  const { record } = await at.open();
  await record.receive(message('third', { receivedAtMs: 0 }));
  const { unclaimed } = await record.restore();
  expect(unclaimed.map(({ id }) => id)).toEqual(['first', 'second', 'third']);
});

it('finds what was sent to a thread under another name of it', async () => {
  using at = store();
  const before = await at.open({ name: 'Sol' });
  await before.record.receive(message('a'));
  before.crash();
  const { record } = await at.open({ name: 'Luna' });
  expect((await record.restore()).unclaimed).toEqual([message('a')]);
});

it('sets apart what was sent to its name in another thread, and never claims it', async () => {
  using at = store();
  const before = await at.open({ threadId: OTHER_THREAD, name: 'SOL' });
  await advance(before.record, 'waiting', 'receive');
  await advance(before.record, 'claimed', 'claim');
  await advance(before.record, 'untold', 'outcome');
  before.crash();
  const luna = await at.open({ threadId: 'of Luna', name: 'Luna' });
  await luna.record.receive(message('to Luna'));
  luna.crash();

  const { record } = await at.open();
  const restored = await record.restore();
  expect(restored).toMatchObject({ unclaimed: [], claimed: [], halfTold: [] });
  expect(restored.foreign).toEqual([
    { message: message('waiting'), isClaimed: false },
    { message: message('claimed'), isClaimed: true },
  ]);
  expect(restored.untold.map((each) => each.message.id)).toEqual(['untold']);
  await expect(record.claim('waiting', claim)).rejects.toThrow('another thread');
  expect(await record.outcome('waiting', { state: 'refused', reason: 'replaced', detail: '' })).toBe(true);
  expect(await record.claimReply('waiting')).toBe(true);
});

it('leaves alone what a living process may decide', async () => {
  using at = store();
  const sol = { threadId: OTHER_THREAD, name: 'Sol' };
  const before = await at.open(sol);
  await advance(before.record, 'a', 'receive');
  await advance(before.record, 'b', 'outcome');
  await advance(before.record, 'c', 'note');
  before.crash();
  const elsewhere = await at.open({ ...sol, name: 'Luna', self: thisProcess() });

  const { record } = await at.open();
  expect(await record.restore()).toEqual(nothing);
  expect(deliveries(at)).toEqual([null]);
  expect(await record.outcome('a', unknown)).toBe(false);
  expect(await elsewhere.record.outcome('a', unknown)).toBe(true);
});

it('a tool call that may have acted before a crash does not act after it, and goes when it is old', async () => {
  using at = store();
  const before = await at.open();
  await before.record.claimCall('call-1');
  before.crash();
  const { record } = await at.open();
  expect(await record.claimCall('call-1')).toBe(false);
  at.raw((db) => {
    expect(removeSettled(db, Date.now() + LIMITS.retentionMs + 1_000)).toBe(false);
    expect(db.prepare('SELECT * FROM outbound').all()).toEqual([]);
  });
});

it('a tool call of one thread says nothing about another thread', async () => {
  using at = store();
  const { record } = await at.open();
  await record.claimCall('call-1');
  const other = await at.open({ threadId: OTHER_THREAD, name: 'Luna' });
  expect(await other.record.claimCall('call-1')).toBe(true);
});
