// @ts-check
/**
 * Counts a vitest run. A file that does not load, a hook that throws and an error outside any test are
 * failures too, so the line never says less than the exit code.
 *
 * @param {import('vitest/node').TestModule[]} modules
 * @param {unknown[]} unhandledErrors
 */
export function count(modules, unhandledErrors) {
  const total = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
  for (const module of modules) {
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      total[state === 'pending' ? 'failed' : state] += 1;
    }
    for (const suite of [module, ...module.children.allSuites()]) total.failed += suite.errors().length;
  }
  return total;
}
