/**
 * A warning Node prints (a leaked listener, something deprecated) fails the run, as an unhandled rejection
 * does: thrown here it becomes an uncaught error, and vitest names the test that ran.
 */
process.on('warning', throwWarning);

function throwWarning(warning: Error): never {
  throw warning;
}
