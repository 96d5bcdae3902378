import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { serveMcp } from '../../src/mcp/main.ts';

const listeners = () => ['SIGHUP', 'SIGTERM', 'SIGINT'].map((signal) => process.listenerCount(signal));

test.each([
  ['stdin ends', ({ stdin }: Streams) => stdin.end()],
  ['stdin is closed', ({ stdin }: Streams) => stdin.destroy()],
  ['stdin breaks', ({ stdin }: Streams) => stdin.destroy(new Error('broken'))],
  ['stdout is closed', ({ stdout }: Streams) => stdout.destroy()],
  ['stdout breaks', ({ stdout }: Streams) => stdout.destroy(new Error('broken'))],
])('it is over when %s, and listens to no signal any more', async (_what, leave) => {
  const before = listeners();
  const streams = { stdin: new PassThrough(), stdout: new PassThrough() };
  const over = serveMcp({ env: {}, ...streams });
  expect(listeners()).toEqual(before.map((count) => count + 1));
  leave(streams);
  expect(await over).toBe(0);
  expect(listeners()).toEqual(before);
});

interface Streams {
  readonly stdin: PassThrough;
  readonly stdout: PassThrough;
}
