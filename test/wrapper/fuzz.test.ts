import { expect, it } from 'vitest';
import { randomFrom, SEED } from '../random.ts';
import { fuzz } from './fuzz-run.ts';

it(`100,000 random and damaged frames: nothing crashes, nothing stays, good messages are answered (PEER_SEED=${SEED})`, async () => {
  await fuzz(randomFrom(SEED), 100_000);
  expect.hasAssertions();
});
