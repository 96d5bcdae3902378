import { expect, test } from 'vitest';
import { runPeer } from '../real/peer-process.ts';
import { openWorld } from '../real/temp.ts';
import { SlowProcess } from './slow-process.ts';

test('a wrapper that does not end within 8 s is said to run still, exit 8', async () => {
  await using world = openWorld();
  const sol = await SlowProcess.start(world, 'Sol', Number.POSITIVE_INFINITY);
  const ended = await runPeer(['close', 'Sol'], { env: world.env });
  expect(ended).toMatchObject({ code: 8, stdout: '' });
  expect(ended.stderr).toMatch(
    new RegExp(`^peer: Sol \\(pid ${sol.pid}\\) was told to close and still runs`),
  );
});
