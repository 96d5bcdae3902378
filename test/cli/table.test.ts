import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Column, table, textWidth } from '../../src/cli/table.ts';

const columns: Column[] = [
  { title: 'NAME', minWidth: 8, cut: 'right' },
  { title: 'CWD', minWidth: 8, cut: 'left' },
];

test('columns are as wide as they need when there is room', () => {
  expect(
    table(
      columns,
      [
        ['Sol', '/srv'],
        ['alpha', '/'],
      ],
      80,
    ),
  ).toEqual(['NAME   CWD', 'Sol    /srv', 'alpha  /']);
});

test('the last column gives up first, at the end it may lose', () => {
  const [, line] = table(columns, [['a name of 20 letters', '/srv/app/src/the-project']], 40);
  expect(line).toBe('a name of 20 letters  …p/src/the-project');
});

test('wide characters count two and marks none', () => {
  expect(textWidth('東京')).toBe(4);
  expect(textWidth('e\u0301')).toBe(1);
  expect(textWidth('🙂')).toBe(2);
});

test('no line is wider than asked, for any cells', () => {
  const cell = fc.string({ unit: 'grapheme', maxLength: 60 });
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 5 }), (rows) => {
      for (const line of table(columns, rows, 24)) expect(textWidth(line)).toBeLessThanOrEqual(24);
    }),
  );
});
