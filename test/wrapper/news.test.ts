import { beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { News } from '../../src/wrapper/news.ts';

describe('news about messages of its own', () => {
  let news: News;
  beforeEach(() => {
    news = new News();
  });

  const add = (text: string, about: string | null = null, wakes = false) => news.add({ about, text, wakes });

  test('stands in front of the next message, once', () => {
    add('Luna is idle again.');
    add('Mars has ended.');
    expect(news.before('m1', 'hello')).toBe(
      'While you were away:\n- Luna is idle again.\n- Mars has ended.\n\nhello',
    );
    expect(news.before('m2', 'hello')).toBe('hello');
  });

  test('is still there when the same message is handed over again, with what came since', () => {
    add('one');
    news.before('m1', 'hello');
    add('two');
    expect(news.before('m1', 'hello')).toBe(
      'While you were away:\n- one\n\nWhile you were away:\n- two\n\nhello',
    );
    news.settled('m1');
    expect(news.before('m1', 'hello')).toBe('hello');
  });

  test('starts a turn only when something in it may', () => {
    add('Luna is idle again.');
    expect(news.wake()).toBeNull();
    add('Your message 1 to Luna was denied.', 'm1', true);
    expect(news.wake()).toBe(
      '[Delivery notice] Luna is idle again.\nYour message 1 to Luna was denied.\nNothing you write here is sent to anybody.',
    );
    expect(news.wake()).toBeNull();
    expect(news.before('m1', 'hello')).toBe('hello');
  });

  test('tells the newest word about a message, and still wakes when the one before did', () => {
    add('held', 'm1', true);
    add('denied', 'm1');
    expect(news.wake()).toBe('[Delivery notice] denied\nNothing you write here is sent to anybody.');
  });

  test('that rides with a message starts no turn any more', () => {
    add('held', 'm1', true);
    expect(news.before('m2', 'hello')).toContain('- held\n');
    expect(news.wake()).toBeNull();
  });

  test('is bounded, and says what is left out', () => {
    for (let n = 0; n < LIMITS.newsLines + 3; n++) add(`line ${n}`);
    const lines = news.before('m1', 'hello').split('\n');
    expect(lines[1]).toBe('- (3 older lines are left out.)');
    expect(lines[2]).toBe('- line 3');
  });

  test('waits for the next message when it would not fit in front of this one', () => {
    add('one');
    const long = 'x'.repeat(LIMITS.codexInputChars);
    expect(news.before('m1', long)).toBe(long);
    expect(news.before('m2', 'hello')).toContain('- one');
  });
});
