import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { recordedThread, recordThread } from '../../src/registry/thread-file.ts';
import { registry, THREAD } from './fixtures.ts';

const OTHER = THREAD.replace(/^./, 'f');

it('gives back the thread of a name, whatever its case', () => {
  using at = registry();
  expect(recordedThread(at.threadsDir, 'Sol')).toBeNull();
  recordThread(at.threadsDir, 'Sol', THREAD.toUpperCase());
  expect(recordedThread(at.threadsDir, 'Sol')).toBe(THREAD);
  expect(recordedThread(at.threadsDir, 'sOL')).toBe(THREAD);
  expect(recordedThread(at.threadsDir, 'Sol 2')).toBeNull();
});

it('creates the folder, writes for us alone, and leaves nothing else there', () => {
  using at = registry();
  rmSync(at.threadsDir, { recursive: true });
  expect(recordedThread(at.threadsDir, 'Sol')).toBeNull();
  recordThread(at.threadsDir, 'Sol', THREAD);
  expect(readFileSync(join(at.threadsDir, 'Sol'), 'utf8')).toBe(`${THREAD}\n`);
  expect(statSync(join(at.threadsDir, 'Sol')).mode & 0o777).toBe(0o600);
  expect(readdirSync(at.threadsDir)).toEqual(['Sol']);
});

it('keeps one thread for a name that comes in another case', () => {
  using at = registry();
  recordThread(at.threadsDir, 'Sol', THREAD);
  recordThread(at.threadsDir, 'sol', OTHER);
  expect(readdirSync(at.threadsDir)).toEqual(['sol']);
  expect(recordedThread(at.threadsDir, 'SOL')).toBe(OTHER);
});

it.each(['', 'not a uuid', `${THREAD}x`, `../${THREAD}`, `${THREAD} ${THREAD}`])(
  'takes %j for no thread',
  (text) => {
    using at = registry();
    writeFileSync(join(at.threadsDir, 'Sol'), text);
    expect(recordedThread(at.threadsDir, 'Sol')).toBeNull();
  },
);

it('does not take an unreadable record for a new name', () => {
  using at = registry();
  mkdirSync(join(at.threadsDir, 'Sol'));
  execFileSync('mkfifo', [join(at.threadsDir, 'Luna')]);
  const inPlace = join(at.configDir, 'file');
  writeFileSync(inPlace, '');
  const unreadable = expect.objectContaining({ word: 'folder-unreadable' });
  expect(() => recordedThread(at.threadsDir, 'Sol')).toThrow(unreadable);
  expect(() => recordedThread(at.threadsDir, 'Luna')).toThrow(unreadable);
  expect(() => recordedThread(inPlace, 'Sol')).toThrow(unreadable);
});

it.each(['../Sol', '.', '..', '', 'a/b'])('refuses the name %j before it touches a file', (name) => {
  using at = registry();
  expect(() => recordedThread(at.threadsDir, name)).toThrow(expect.objectContaining({ word: 'bad-name' }));
  expect(() => recordThread(at.threadsDir, name, THREAD)).toThrow(
    expect.objectContaining({ word: 'bad-name' }),
  );
  expect(() => recordThread(at.threadsDir, 'Sol', '../x')).toThrow('not a thread id');
});
