import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { excerpt, spill } from '../../src/wrapper/spill.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'spill-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

it('keeps the whole text in a file of its own that only we can read', () => {
  const text = 'ünï '.repeat(1_000);
  const file = spill(join(dir, 'texts'), 'm1', text);
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(dir, 'texts')).mode & 0o777).toBe(0o700);
});

it('never overwrites a text, nor follows what somebody put in its place', () => {
  spill(dir, 'm1', 'first');
  expect(() => spill(dir, 'm1', 'second')).toThrow('EEXIST');
});

it('shows the beginning, cut between characters, with the size and the path', () => {
  expect(excerpt('aü€𝄞z', '/f', 4)).toBe('aü\n\n[The text goes on: 11 bytes in all, in the file /f]');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat({ max: 40 }), (text, bytes) => {
      const head = excerpt(text, '/f', bytes).split('\n\n[The text goes on')[0] ?? '';
      expect(text.startsWith(head)).toBe(true);
      expect(Buffer.byteLength(head)).toBeLessThanOrEqual(bytes);
    }),
  );
});
