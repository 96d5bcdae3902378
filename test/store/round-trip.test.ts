import { statSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as arbitrary from './arbitraries.ts';
import { store } from './fixtures.ts';
import { message } from './steps.ts';

it('gives every field back as it was, after a crash, whatever the text holds', async () => {
  const one = fc.tuple(arbitrary.message, arbitrary.outcome, fc.option(fc.uuid()));
  await fc.assert(
    fc.asyncProperty(one, async ([content, outcome, afterTurnId]) => {
      using at = store();
      const [open, claimed, decided] = [
        { id: 'open', ...content },
        { id: 'claimed', ...content },
        { id: 'decided', ...content },
      ] as const;
      const claim = { clientId: 'peer:claimed', afterTurnId };
      const before = await at.open();
      for (const each of [open, claimed, decided]) await before.record.receive(each);
      await before.record.claim('claimed', claim);
      await before.record.outcome('decided', outcome);
      before.crash();

      const { record } = await at.open();
      expect(await record.restore()).toEqual({
        unclaimed: [open],
        claimed: [{ message: claimed, ...claim, turnId: null, isTaken: false }],
        untold: [{ message: decided, outcome }],
        halfTold: [],
        foreign: [],
      });
      expect(record.message('open')).toEqual(open);
    }),
    { numRuns: 40 },
  );
});

it('keeps a message of the largest size', async () => {
  using at = store();
  const large = message('large', { text: '\ud83d\0"'.repeat(349_525) });
  const before = await at.open();
  await before.record.receive(large);
  before.crash();
  const { record } = await at.open();
  await record.restore();
  expect(record.message('large')?.text === large.text).toBe(true);
});

it('is readable for its owner alone, whatever the umask says', async () => {
  const umask = process.umask(0);
  try {
    using at = store();
    const { record } = await at.open();
    await record.receive(message('a'));
    expect(statSync(at.dir).mode & 0o777).toBe(0o700);
    for (const end of ['', '-wal', '-shm']) expect(statSync(at.file + end).mode & 0o777).toBe(0o600);
  } finally {
    process.umask(umask);
  }
});
