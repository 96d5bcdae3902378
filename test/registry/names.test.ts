import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkName, sameName } from '../../src/registry/names.ts';

it.each(['Sol', 's', '7', 'Sol 2', 'a.b_c-d', 'x'.repeat(64), 'trailing.'])('takes %j', (name) => {
  checkName(name);
});

it.each([
  '',
  ' Sol',
  'Sol ',
  '.Sol',
  '-rf',
  '_x',
  '..',
  'a/b',
  'x'.repeat(65),
  '#(touch x)',
  'a"b',
  "a'b",
  'a\n',
  'a\nb',
  'a\tb',
  '\x1b[2J',
  'Zoë',
  'Ѕol',
  'a<b',
  'a [1234ab]',
  'a\u202eb',
])('refuses %j', (name) => {
  expect(() => checkName(name)).toThrow(expect.objectContaining({ word: 'bad-name', exitCode: 2 }));
});

it('shows a hostile name safely in its error', () => {
  expect(() => checkName('\x1b[2J"x"')).toThrow('"\\u{1b}[2J"x"" cannot be a peer\'s name');
  expect(() => checkName('x'.repeat(10_000))).toThrow(/^.{1,300}$/);
});

it('takes nothing that is more than a file name', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 70 }), (name) => {
      let isTaken = true;
      try {
        checkName(name);
      } catch {
        isTaken = false;
      }
      expect(isTaken).toBe(/^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/.test(name) && !name.endsWith(' '));
    }),
  );
});

it('compares names without case', () => {
  expect(sameName('Sol', 'sOL')).toBe(true);
  expect(sameName('Sol', 'Sol 2')).toBe(false);
});
