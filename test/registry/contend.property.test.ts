import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contend } from '../../src/registry/contend.ts';
import { BRIDGE, type Row } from '../../src/registry/row.ts';

type Stage = 'new' | 'reading' | 'waiting' | 'proceeded' | 'serving' | 'yielded' | 'ended';

/** A wrapper that opens, in steps as small as the file system makes them: one file is read at a time. */
interface Opener {
  readonly pid: number;
  readonly name: string;
  readonly thread: string;
  readonly procStart: string;
  stage: Stage;
  row: Row | null;
  unread: number[];
  read: Row[];
}

type Fate = 'step' | 'die' | 'fail';

const opener = fc.record({
  name: fc.constantFrom('Sol', 'sol', 'Luna'),
  thread: fc.constantFrom('t1', 't2'),
  // Few values, so that equal start times are met; different lengths, so that they are not compared as text.
  procStart: fc.constantFrom('9', '10', '100'),
});
const openers = fc
  .array(opener, { minLength: 2, maxLength: 5 })
  .map((all) =>
    all.map(
      (each, index): Opener => ({ ...each, pid: index + 1, stage: 'new', row: null, unread: [], read: [] }),
    ),
  );
const fate = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Fate>('step') },
  fc.constantFrom<Fate>('die', 'fail'),
);
const schedule = fc.array(fc.tuple(fc.nat(4), fate), { maxLength: 120 });

it('never lets two go on for the same name or thread, whatever the order, deaths and failures', () => {
  fc.assert(
    fc.property(openers, schedule, (all, steps) => {
      for (const [who, what] of steps) {
        advance(all, all[who % all.length]!, what);
        expectNoTwo(all);
      }
    }),
    { numRuns: 3_000 },
  );
});

it('ends with exactly one when nobody dies or fails', () => {
  const sameName = openers.map((all) => all.map((each) => ({ ...each, name: 'Sol' })));
  const order = fc.array(fc.nat(4), { maxLength: 120 });
  fc.assert(
    fc.property(sameName, order, (all, steps) => {
      for (const who of steps) advance(all, all[who % all.length]!, 'step');
      for (let round = 0; round < 100; round += 1) for (const each of all) advance(all, each, 'step');
      expect(all.filter((each) => each.stage === 'serving')).toHaveLength(1);
      expect(all.filter((each) => each.stage === 'yielded')).toHaveLength(all.length - 1);
    }),
    { numRuns: 2_000 },
  );
});

function advance(all: readonly Opener[], each: Opener, what: Fate): void {
  if (each.stage === 'yielded' || each.stage === 'ended') return;
  // A killed wrapper's row stays in the folder; one that fails or closes takes it away.
  if (what !== 'step') {
    each.stage = 'ended';
    if (what === 'fail') each.row = null;
    return;
  }
  switch (each.stage) {
    case 'new':
      each.row = openingRow(each);
      each.stage = 'waiting';
      return;
    case 'waiting':
      each.unread = all.filter((other) => other.row !== null).map((other) => other.pid);
      each.read = [];
      each.stage = 'reading';
      return;
    case 'reading':
      return readOne(all, each);
    case 'proceeded':
      each.row = { ...each.row!, state: 'serving', messagingSocketPath: `/s/${each.pid}.sock` };
      each.stage = 'serving';
      return;
    case 'serving':
      return;
  }
}

function readOne(all: readonly Opener[], each: Opener): void {
  const pid = each.unread.shift();
  if (pid !== undefined) {
    const row = all[pid - 1]!.row;
    if (row !== null) each.read.push(row);
    return;
  }
  const live = each.read.filter((row) => all[row.pid - 1]!.stage !== 'ended');
  const { decision } = contend(each.row!, live);
  each.stage = decision === 'proceed' ? 'proceeded' : decision === 'wait' ? 'waiting' : 'yielded';
  if (each.stage === 'yielded') each.row = null;
}

function openingRow({ pid, name, thread, procStart }: Opener): Row {
  return { pid, name, sessionId: thread, procStart, bridge: BRIDGE, state: 'opening' };
}

function expectNoTwo(all: readonly Opener[]): void {
  const on = all.filter((each) => each.stage === 'proceeded' || each.stage === 'serving');
  const names = on.map((each) => each.name.toLowerCase());
  const threads = on.map((each) => each.thread);
  expect(new Set(names).size).toBe(on.length);
  expect(new Set(threads).size).toBe(on.length);
}
