import { describe, expect, it } from 'vitest';
import { memoryRecord } from '../../src/store/memory.ts';
import type { MessageRecord } from '../../src/store/record.ts';
import { store } from './fixtures.ts';
import { advance, claim, message, nothing, unknown } from './steps.ts';

interface Case extends AsyncDisposable {
  readonly record: MessageRecord;
}

async function inMemory(): Promise<Case> {
  const record = memoryRecord();
  return { record, [Symbol.asyncDispose]: () => record.close() };
}

async function inStore(): Promise<Case> {
  const at = store();
  const { record } = await at.open();
  const close = async () => {
    await record.close();
    at[Symbol.dispose]();
  };
  return { record, [Symbol.asyncDispose]: close };
}

describe.each([
  ['memory', inMemory],
  ['the store', inStore],
])('the record in %s', (_name, open) => {
  it('keeps a message until its sender is told', async () => {
    await using at = await open();
    expect(at.record.message('a')).toBeUndefined();
    await at.record.receive(message('a'));
    expect(at.record.message('a')).toEqual(message('a'));
    await at.record.outcome('a', unknown);
    expect(at.record.message('a')).toEqual(message('a'));
    await at.record.claimReply('a');
    expect(at.record.message('a')).toEqual(message('a'));
    await at.record.delivered('a', 'written');
    expect(at.record.message('a')).toBeUndefined();
  });

  it('does not record one message twice, not even a settled one', async () => {
    await using at = await open();
    await at.record.receive(message('a'));
    await expect(at.record.receive(message('a'))).rejects.toThrow('recorded already');
    await at.record.outcome('a', unknown);
    await at.record.delivered('a', 'none');
    await expect(at.record.receive(message('a'))).rejects.toThrow('recorded already');
  });

  it('lets a message be claimed once, and again only after the claim was withdrawn', async () => {
    await using at = await open();
    await at.record.receive(message('a'));
    await at.record.claim('a', claim);
    await expect(at.record.claim('a', claim)).rejects.toThrow('claimed already');
    await at.record.withdraw('a');
    expect((await at.record.restore()).unclaimed).toEqual([message('a')]);
    await at.record.claim('a', claim);
  });

  it('withdraws nothing where nothing is claimed', async () => {
    await using at = await open();
    await at.record.receive(message('a'));
    await at.record.withdraw('a');
    expect((await at.record.restore()).unclaimed).toEqual([message('a')]);
  });

  it('never withdraws a claim for which there is evidence', async () => {
    await using at = await open();
    await advance(at.record, 'a', 'taken');
    await expect(at.record.withdraw('a')).rejects.toThrow(/^message a was taken$/);
  });

  it('refuses to claim what has its outcome', async () => {
    await using at = await open();
    await at.record.receive(message('a'));
    await at.record.outcome('a', unknown);
    await expect(at.record.claim('a', claim)).rejects.toThrow('has its outcome');
  });

  it('takes evidence for a claim, and keeps the first turn', async () => {
    await using at = await open();
    await at.record.receive(message('a'));
    await at.record.claim('a', claim);
    await at.record.taken('a', 'turn-1');
    await at.record.taken('a', 'turn-2');
    expect((await at.record.restore()).claimed).toMatchObject([{ turnId: 'turn-1', isTaken: true }]);
  });

  it('counts a message as claimed that was found in the thread, as long as it has no outcome', async () => {
    await using at = await open();
    await at.record.receive(message('a'));
    await at.record.taken('a', 'turn-1');
    const found = { clientId: null, afterTurnId: 'turn-1', turnId: 'turn-1', isTaken: true };
    expect((await at.record.restore()).claimed).toEqual([{ message: message('a'), ...found }]);
    await expect(at.record.claim('a', claim)).rejects.toThrow('claimed already');
    await at.record.receive(message('b'));
    await at.record.outcome('b', { state: 'expired' });
    await expect(at.record.taken('b', 'turn-1')).rejects.toThrow('has its outcome');
  });

  it('takes one outcome, and the first one stays', async () => {
    await using at = await open();
    await at.record.receive(message('a'));
    expect(await at.record.outcome('a', unknown)).toBe(true);
    expect(await at.record.outcome('a', { state: 'not-taken', reason: 'closed' })).toBe(false);
    expect((await at.record.restore()).untold).toEqual([{ message: message('a'), outcome: unknown }]);
  });

  it('lets a tool call act once', async () => {
    await using at = await open();
    expect(await at.record.claimCall('call-1')).toBe(true);
    expect(await at.record.claimCall('call-1')).toBe(false);
    expect(await at.record.claimCall('call-2')).toBe(true);
  });

  it('gives away the right to write the outcome once, also after the sender was told', async () => {
    await using at = await open();
    await at.record.receive(message('a'));
    await expect(at.record.claimReply('a')).rejects.toThrow('no outcome');
    await at.record.outcome('a', unknown);
    expect(await at.record.claimReply('a')).toBe(true);
    expect(await at.record.claimReply('a')).toBe(false);
    await at.record.delivered('a', 'maybe-written');
    expect(await at.record.claimReply('a')).toBe(false);
  });

  it('has nothing more to write when there was nobody to tell', async () => {
    await using at = await open();
    await at.record.receive(message('a'));
    await expect(at.record.delivered('a', 'none')).rejects.toThrow('no outcome');
    await at.record.outcome('a', unknown);
    await at.record.delivered('a', 'none');
    expect(await at.record.claimReply('a')).toBe(false);
  });

  it('gives away the right to a note once, and only about what is half told', async () => {
    await using at = await open();
    await advance(at.record, 'a', 'outcome');
    expect(await at.record.claimNote('a')).toBe(false);
    await at.record.claimReply('a');
    expect(await at.record.claimNote('a')).toBe(true);
    expect(await at.record.claimNote('a')).toBe(false);
    await advance(at.record, 'b', 'reply');
    await at.record.delivered('b', 'written');
    expect(await at.record.claimNote('b')).toBe(false);
  });

  it('lists what is open by how far it came, each list in order of receipt', async () => {
    await using at = await open();
    for (const id of ['z', 'y']) {
      await advance(at.record, `${id}-unclaimed`, 'receive');
      await advance(at.record, `${id}-claimed`, 'claim');
      await advance(at.record, `${id}-taken`, 'taken');
      await advance(at.record, `${id}-untold`, 'outcome');
      await advance(at.record, `${id}-half-told`, 'reply');
      await advance(at.record, `${id}-told`, 'delivered');
    }
    const outcomeOf = (id: string) => ({
      message: message(id),
      outcome: { state: 'answered', text: `answer to ${id}`, together: null },
    });
    const claimOf = (id: string, turnId: string | null) => ({
      message: message(id),
      clientId: `peer:${id}`,
      afterTurnId: 'turn-0',
      turnId,
      isTaken: turnId !== null,
    });
    expect(await at.record.restore()).toEqual({
      unclaimed: [message('z-unclaimed'), message('y-unclaimed')],
      claimed: [
        claimOf('z-claimed', null),
        claimOf('z-taken', 'turn-1'),
        claimOf('y-claimed', null),
        claimOf('y-taken', 'turn-1'),
      ],
      untold: [outcomeOf('z-untold'), outcomeOf('y-untold')],
      halfTold: [outcomeOf('z-half-told'), outcomeOf('y-half-told')],
      foreign: [],
    });
  });

  it('knows nothing of a message that it never received', async () => {
    await using at = await open();
    await expect(at.record.claim('a', claim)).rejects.toThrow('never recorded');
    await expect(at.record.withdraw('a')).rejects.toThrow('never recorded');
    await expect(at.record.taken('a', 'turn-1')).rejects.toThrow('never recorded');
    await expect(at.record.outcome('a', unknown)).rejects.toThrow('never recorded');
    await expect(at.record.claimReply('a')).rejects.toThrow('never recorded');
    await expect(at.record.claimNote('a')).rejects.toThrow('never recorded');
    expect(await at.record.restore()).toEqual(nothing);
  });

  it('takes a receipt about a message that it has forgotten', async () => {
    await using at = await open();
    await at.record.delivered('a', 'held');
    expect(await at.record.restore()).toEqual(nothing);
  });

  it('takes calls in the order in which they are made, without waiting between them', async () => {
    await using at = await open();
    const { record } = at;
    const done = await Promise.all([
      record.receive(message('a')),
      record.claim('a', claim),
      record.withdraw('a'),
      record.claim('a', claim),
      record.taken('a', 'turn-1'),
      record.outcome('a', unknown),
      record.outcome('a', unknown),
      record.claimReply('a'),
      record.claimReply('a'),
      record.delivered('a', 'written'),
      record.restore(),
    ]);
    expect(done.slice(5, 9)).toEqual([true, false, true, false]);
    expect(done.at(-1)).toEqual(nothing);
    expect(record.message('a')).toBeUndefined();
  });
});
