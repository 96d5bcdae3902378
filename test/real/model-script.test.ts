import { expect, test } from 'vitest';
import { final, script, scriptAtEnd } from './model-script.ts';

test('the script is found behind a header and a body', () => {
  const text = `[from alpha]\n\nreview @@ [1] this ${script([[final('fine')]])}\n`;
  expect(scriptAtEnd(text)).toEqual([[final('fine')]]);
});

test('a script that holds a script for somebody else is the outer one', () => {
  const rounds = [[{ call: 'send', args: { text: `go ${script([[final('inner')]])}` } }]];
  expect(scriptAtEnd(`ask ${script(rounds)}`)).toEqual(rounds);
});

test('a script that is only quoted in the middle of a text is none', () => {
  expect(scriptAtEnd(`${script([[final('quoted')]])}\n(answer to 01234567)`)).toBe(null);
});

test('a script that is no JSON is answered with that complaint', () => {
  expect(scriptAtEnd('x @@[[{text:"no quotes"}]]')).toEqual([
    [final('bad script: @@[[{text:"no quotes"}]]')],
  ]);
});
