// @ts-check
import { parseCLI, startVitest } from 'vitest/node';

/** @typedef {{ passed: number, failed: number, skipped: number }} Count */

/**
 * Runs vitest and prints its count as the last line.
 *
 * @param {string[]} args what vitest takes: file filters, -t, --project
 * @returns {Promise<number>} the exit code; finding no test at all is vitest's own failure
 */
export async function runSuites(args) {
  const { filter, options } = parseCLI(['vitest', ...args]);
  const vitest = await startVitest('test', filter, { ...options, watch: false });
  const total = count(vitest.state.getTestModules(), vitest.state.getUnhandledErrors());
  await vitest.close();
  console.log(line(total));
  return total.failed > 0 ? 1 : Number(process.exitCode ?? 0);
}

/**
 * A file that does not load, a hook that throws and an error outside any test are failures too, so the
 * line never says less than the exit code.
 *
 * @param {import('vitest/node').TestModule[]} modules
 * @param {unknown[]} unhandledErrors
 */
function count(modules, unhandledErrors) {
  const total = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      // Still pending at the end: its worker died, or the run was cut short.
      total[state === 'pending' ? 'failed' : state] += 1;
    }
    for (const suite of [module, ...module.children.allSuites()]) total.failed += suite.errors().length;
  }
  return total;
}

/** @param {Count} total */
function line({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
