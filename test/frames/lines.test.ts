import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../src/frames/lines.ts';

function split(chunks: Iterable<Uint8Array>, maxChars = 1_000) {
  const splitter = new LineSplitter(maxChars);
  const lines = [...chunks].flatMap((chunk) => splitter.push(chunk));
  lines.push(...splitter.end());
  return { lines, overflowed: splitter.overflowed };
}

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let start = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(start, start + size));
    start += size;
  }
  return [...chunks, bytes.subarray(start)];
}

const cuts = fc.array(fc.nat({ max: 9 }), { maxLength: 60 });
const textBytes = fc
  .string({ unit: fc.constantFrom('a', '\n', '\r', 'ü', '🙂', '\ufeff', '{') })
  .map((text) => new TextEncoder().encode(text));
const anyBytes = fc.uint8Array({ maxLength: 200 });

describe('lines', () => {
  it('are the same however their bytes are cut into chunks, also when they are no UTF-8', () => {
    fc.assert(
      fc.property(
        fc.oneof(textBytes, anyBytes),
        cuts,
        fc.integer({ min: 1, max: 30 }),
        (bytes, sizes, max) => {
          expect(split(cut(bytes, sizes), max)).toEqual(split([bytes], max));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('are what the text holds between its newlines', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'ü', '🙂', '\r') })),
        cuts,
        (lines, sizes) => {
          const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''));
          expect(split(cut(bytes, sizes)).lines).toEqual(lines);
        },
      ),
    );
  });

  it('include the last one when the stream ends without a newline', () => {
    expect(split([Buffer.from('one\ntwo')]).lines).toEqual(['one', 'two']);
  });

  it('fit when line and newline fill the cap, and end the splitting one character later', () => {
    expect(split([Buffer.from('abcd\nx\n')], 5)).toEqual({ lines: ['abcd', 'x'], overflowed: false });
    expect(split([Buffer.from('x\nabcde\nx\n')], 5)).toEqual({ lines: ['x'], overflowed: true });
  });

  it('count characters and not bytes against the cap', () => {
    expect(split([Buffer.from('üüüü\n')], 5)).toEqual({ lines: ['üüüü'], overflowed: false });
  });

  it('keep only the beginning of a line that is too long', () => {
    const splitter = new LineSplitter(5);
    splitter.push(Buffer.from('abcdefgh'));
    splitter.push(Buffer.from('ijk\nnext\n'));
    expect(splitter.rest).toBe('abcde');
    expect(splitter.end()).toEqual([]);
  });
});
