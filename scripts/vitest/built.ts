import { build } from '../build.mjs';

/** Brings dist/ up to date for tests that run the command. `npm test` has built already. */
export default async function setup(): Promise<void> {
  if (process.env.PEER_TEST_BUILT === '1') return;
  await build().catch(onBuildFailure);
}

/** Tests that need no dist/ still run, so that one broken file does not hide the rest. */
function onBuildFailure(error: Error): void {
  console.error(`dist/ is not up to date, tests of the command see the last build: ${error.message}`);
}
