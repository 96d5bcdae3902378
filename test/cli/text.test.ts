import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Io } from '../../src/cli/io.ts';
import { messageText } from '../../src/cli/text.ts';
import { LIMITS } from '../../src/limits.ts';

/** What a command gets whose stdin brings these chunks and then stays open, unless it ends. */
function piped(chunks: readonly Buffer[], isEnded: boolean) {
  const stdin = new PassThrough();
  for (const chunk of chunks) stdin.write(chunk);
  if (isEnded) stdin.end();
  const text = messageText('-', { stdin, stderr: new PassThrough(), env: {} } as unknown as Io);
  return { stdin, text };
}

test('stdin is not read on past what a frame holds, and that is said while its writer goes on', async () => {
  const { stdin, text } = piped(Array(20).fill(Buffer.alloc(100_000, 'x')), false);
  await expect(text).rejects.toMatchObject({
    word: 'not-sent',
    message: expect.stringMatching(/^Not sent: .*Put the text in a file/),
  });
  expect(stdin.destroyed).toBe(true);
});

test('the cap is on characters, and one that is cut between two chunks is whole', async () => {
  const bytes = Buffer.from('ü'.repeat(LIMITS.frameChars));
  const { text } = piped([bytes.subarray(0, 700_001), bytes.subarray(700_001)], true);
  expect((await text) === 'ü'.repeat(LIMITS.frameChars)).toBe(true);
});
