import { defineConfig } from 'vitest/config';

const LONG = '**/*.long.test.ts';
/** Files that measure time: one after the other, when nothing else runs. */
const ALONE = '**/*.alone.test.ts';
/** What runs the real programs. */
const REAL = ['test/real/**', 'test/chaos/**'];
const isLongRun = process.env.PEER_TEST_LONG === '1';

/** `npm run test:long` runs the files that need real time, every other run leaves them out. */
function files(folders: string[], others: string[] = []) {
  return isLongRun
    ? { include: folders.map((folder) => `${folder}/${LONG}`), exclude: others }
    : { include: folders.map((folder) => `${folder}/**/*.test.ts`), exclude: [LONG, ALONE, ...others] };
}

const shared = {
  execArgv: ['--import', './scripts/vitest/strict-process.mjs'],
  maxWorkers: 2,
};

export default defineConfig({
  test: {
    teardownTimeout: 30_000,
    passWithNoTests: isLongRun,
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          ...files(['test'], REAL),
          globalSetup: ['scripts/vitest/built.ts'],
          // A process for each file costs 140 ms on two cores, for 60 files 8 s against 0.7 s. Unit tests
          // can share one: what they test takes its environment as a parameter.
          isolate: false,
          testTimeout: isLongRun ? 600_000 : 20_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'real',
          ...files(['test/real', 'test/chaos']),
          globalSetup: ['scripts/vitest/built.ts', 'scripts/vitest/fetched.ts'],
          testTimeout: isLongRun ? 600_000 : 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'alone',
          include: isLongRun ? [] : [ALONE],
          globalSetup: ['scripts/vitest/built.ts'],
          maxWorkers: 1,
          testTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
