import fc from 'fast-check';
import { expect, it } from 'vitest';
import { memoryRecord } from '../../src/store/memory.ts';
import type { MessageRecord } from '../../src/store/record.ts';
import { type Opened, type Store, store } from './fixtures.ts';
import { message, unknown } from './steps.ts';

type Call = (record: MessageRecord, id: string) => Promise<unknown>;

const calls = {
  receive: (record, id) => record.receive(message(id)),
  claim: (record, id) => record.claim(id, { clientId: `peer:${id}`, afterTurnId: null }),
  withdraw: (record, id) => record.withdraw(id),
  taken: (record, id) => record.taken(id, 'turn-1'),
  takenElsewhere: (record, id) => record.taken(id, 'turn-2'),
  answered: (record, id) => record.outcome(id, { state: 'answered', text: id, together: null }),
  unknown: (record, id) => record.outcome(id, unknown),
  claimReply: (record, id) => record.claimReply(id),
  claimNote: (record, id) => record.claimNote(id),
  written: (record, id) => record.delivered(id, 'written'),
  held: (record, id) => record.delivered(id, 'held'),
  call: (record, id) => record.claimCall(id),
} satisfies Record<string, Call>;

const IDS = ['c', 'a', 'b'];
const call = fc.record({
  name: fc.constantFrom(...(Object.keys(calls) as (keyof typeof calls)[])),
  id: fc.constantFrom(...IDS),
});
const reopening = fc.constantFrom('crash' as const, 'close' as const);
const steps = fc.array(fc.oneof({ weight: 9, arbitrary: call }, { weight: 1, arbitrary: reopening }), {
  minLength: 10,
  maxLength: 60,
});

/** The store of a peer that is reopened now and then, beside the memory of one that never ends. */
class Pair {
  readonly model = memoryRecord();
  readonly #at: Store;
  #opened: Opened;
  /** Claimed, whatever became of it since. */
  readonly #claimed = new Set<string>();
  /** Claimed by a process before this one, which alone could withdraw it. */
  readonly #inherited = new Set<string>();

  private constructor(at: Store, opened: Opened) {
    this.#at = at;
    this.#opened = opened;
  }

  static async open(at: Store): Promise<Pair> {
    return new Pair(at, await at.open());
  }

  get record(): MessageRecord {
    return this.#opened.record;
  }

  async reopen(how: 'crash' | 'close'): Promise<void> {
    if (how === 'close') await this.record.close();
    else this.#opened.crash();
    this.#opened = await this.#at.open();
    for (const id of this.#claimed) this.#inherited.add(id);
    for (const id of IDS) await this.#giveUpNote(id);
    await this.record.restore();
  }

  /** Of a note that a process left unfinished nobody knows whether it arrived. */
  async #giveUpNote(id: string): Promise<void> {
    const { untold, halfTold, claimed, unclaimed } = await this.model.restore();
    const listed = [...untold, ...halfTold, ...claimed].map((each) => each.message).concat(unclaimed);
    const isNoted = this.model.message(id) !== undefined && !listed.some((each) => each.id === id);
    if (isNoted) await this.model.delivered(id, 'maybe-written');
  }

  async call({ name, id }: { name: keyof typeof calls; id: string }): Promise<void> {
    if (name === 'withdraw' && this.#inherited.has(id)) return;
    const said = await Promise.all([
      outcomeOf(calls[name], this.record, id),
      outcomeOf(calls[name], this.model, id),
    ]);
    expect(said[0], `${name} ${id}`).toEqual(said[1]);
    const isClaim = name === 'claim' || name === 'taken' || name === 'takenElsewhere';
    if (isClaim && said[0] === undefined) this.#claimed.add(id);
    if (name === 'withdraw' && said[0] === undefined) this.#claimed.delete(id);
  }

  async expectSame(): Promise<void> {
    expect(await this.record.restore()).toEqual(await this.model.restore());
    for (const id of IDS) expect(this.record.message(id)).toEqual(this.model.message(id));
  }
}

function outcomeOf(call: Call, record: MessageRecord, id: string): Promise<unknown> {
  return call(record, id).catch((error: Error) => error.message);
}

it('gives what a memory that never ends would give, wherever the process ends', async () => {
  const seed = Number(process.env.PEER_SEED ?? Date.now() % 1_000_000);
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      using at = store();
      const pair = await Pair.open(at);
      for (const step of all) {
        await (typeof step === 'string' ? pair.reopen(step) : pair.call(step));
        await pair.expectSame();
      }
    }),
    { seed, numRuns: 30 },
  );
});
