import fc from 'fast-check';
import { expect, it } from 'vitest';
import { forTerminal, oneLine } from '../../src/os/terminal.ts';

const BIDI = '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069';

it('leaves ordinary text of any language alone', () => {
  const text = 'Sol – "größer" \'#{x}\' 日本語 عربي 👩‍💻';
  expect(forTerminal(text)).toBe(text);
});

it('makes escape sequences visible', () => {
  expect(forTerminal('\x1b[2J\x1b]0;title\x07')).toBe('\\u{1b}[2J\\u{1b}]0;title\\u{7}');
  expect(forTerminal('\x9b2J')).toBe('\\u{9b}2J');
});

it('makes line breaks visible, so that one name cannot look like two entries', () => {
  expect(forTerminal('Sol\nLuna\r\u2028\u2029\x85\t')).toBe(
    'Sol\\u{a}Luna\\u{d}\\u{2028}\\u{2029}\\u{85}\\u{9}',
  );
});

it('makes every bidi control visible', () => {
  expect([...BIDI].map(forTerminal)).toEqual([...BIDI].map((c) => `\\u{${c.codePointAt(0)!.toString(16)}}`));
});

it('lets no control character through, whatever the text', () => {
  const wild = fc.string({
    unit: fc.oneof(
      fc.nat(0x2100).map((n) => String.fromCharCode(n)),
      fc.constantFrom(...BIDI),
    ),
  });
  fc.assert(
    fc.property(wild, (text) => {
      for (const shown of [forTerminal(text), oneLine(text, 40)]) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are the subject
        expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
        expect([...BIDI].some((character) => shown.includes(character))).toBe(false);
      }
    }),
  );
});

it('makes one line of several and says where it was cut', () => {
  expect(oneLine('  first\n\n second\tthird ', 40)).toBe('first second third');
  expect(oneLine('a'.repeat(41), 40)).toBe(`${'a'.repeat(39)}…`);
  expect(oneLine('a'.repeat(40), 40)).toBe('a'.repeat(40));
});

it('never makes a line longer than asked and never halves a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 30 }), (text, max) => {
      const line = oneLine(text, max);
      expect(line.length).toBeLessThanOrEqual(max);
      expect(Buffer.from(line).toString()).toBe(line);
    }),
  );
});

it('looks only at the head of a huge string', () => {
  const startedAt = performance.now();
  oneLine('x\n'.repeat(5_000_000), 64);
  expect(performance.now() - startedAt).toBeLessThan(100);
});
