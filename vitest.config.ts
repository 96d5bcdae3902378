import { defineConfig } from 'vitest/config';

const LONG = '**/*.long.test.ts';
const isLongRun = process.env.PEER_TEST_LONG === '1';

/** `npm run test:long` runs the files that need real time, every other run leaves them out. */
function files(folder: string, others: string[] = []) {
  return isLongRun
    ? { include: [`${folder}/${LONG}`], exclude: others }
    : { include: [`${folder}/**/*.test.ts`], exclude: [LONG, ...others] };
}

export default defineConfig({
  test: {
    teardownTimeout: 30_000,
    passWithNoTests: isLongRun,
    projects: [
      {
        test: {
          name: 'unit',
          ...files('test', ['test/real/**']),
          setupFiles: ['scripts/vitest/strict-process.ts'],
          globalSetup: ['scripts/vitest/built.ts'],
          maxWorkers: 2,
          testTimeout: isLongRun ? 600_000 : 10_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'real',
          ...files('test/real'),
          setupFiles: ['scripts/vitest/strict-process.ts'],
          globalSetup: ['scripts/vitest/built.ts', 'scripts/vitest/fetched.ts'],
          maxWorkers: 2,
          testTimeout: isLongRun ? 600_000 : 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
