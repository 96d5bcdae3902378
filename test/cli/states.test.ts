import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { OUTCOMES, RECEIPTS } from '../../src/cli/outcome.ts';
import { EXIT } from '../../src/errors.ts';

const page = readFileSync(new URL('../../docs/states.md', import.meta.url), 'utf8');

/** The cells of every row of the one table below a heading, code marks taken off. */
function rowsBelow(heading: string): string[][] {
  const section = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const [, , ...rows] = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

test('the table of exit codes is the one commands end with', () => {
  const documented = rowsBelow('Exit codes').map(([code, name]) => [name, Number(code)]);
  expect(Object.fromEntries(documented)).toEqual(EXIT);
  expect(Object.values(EXIT)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 124, 130]);
});

test('the outcomes, what ask says of them and its exit codes are those of the table', () => {
  const { answered, ...unanswered } = OUTCOMES;
  const rows = rowsBelow('Outcomes').map(([word, , words, code]) => ({
    word,
    words,
    exitCode: Number(code),
  }));
  expect(rows.map((row) => row.word)).toEqual(Object.keys(OUTCOMES));
  expect(rows.slice(1)).toEqual(Object.entries(unanswered).map(([word, ending]) => ({ word, ...ending })));
  expect(answered?.exitCode).toBe(0);
});

test('the receipts, what is said of them and their exit codes are those of the table', () => {
  const rows = rowsBelow('Delivery').filter(([word]) => word !== undefined && word in RECEIPTS);
  expect(rows.map(([word]) => word)).toEqual(Object.keys(RECEIPTS));
  for (const [word, , words, code] of rows) {
    const ending = RECEIPTS[word!]!;
    expect(words).toBe(`${word} at alpha (id 1a2b3c4d): ${ending.words}`);
    expect(Number(code)).toBe(ending.exitCode);
  }
});
