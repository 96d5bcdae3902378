// @ts-check
/**
 * Loaded into every test process. A warning Node prints (a leaked listener, something deprecated) fails the
 * run as an unhandled rejection does: thrown here it is an uncaught error, and vitest names the test.
 *
 * @param {Error} warning
 */
function throwWarning(warning) {
  throw warning;
}

process.on('warning', throwWarning);
