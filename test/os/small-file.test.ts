import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { readSmallFile, smallFileOrNull } from '../../src/os/small-file.ts';
import { tempFolder } from './fixtures.ts';

it('gives the whole text up to the cap, also through a link', () => {
  using temp = tempFolder();
  const file = join(temp.path, 'file');
  const text = 'ü'.repeat(LIMITS.smallFileBytes / 2);
  writeFileSync(file, text);
  symlinkSync('file', join(temp.path, 'link'));
  expect(readSmallFile(join(temp.path, 'link'))).toBe(text);
  writeFileSync(file, '');
  expect(readSmallFile(file)).toBe('');
});

it('gives nothing of a larger file, a folder, a fifo, a device, and one in /proc without an end', () => {
  using temp = tempFolder();
  const path = (name: string) => join(temp.path, name);
  writeFileSync(path('large'), 'x'.repeat(LIMITS.smallFileBytes + 1));
  mkdirSync(path('folder'));
  execFileSync('mkfifo', [path('fifo')]);
  symlinkSync('/dev/zero', path('zero'));
  symlinkSync('/proc/self/pagemap', path('pagemap'));
  for (const name of ['large', 'folder', 'fifo', 'zero', 'pagemap', 'missing']) {
    expect(smallFileOrNull(path(name)), name).toBeNull();
    expect(() => readSmallFile(path(name)), name).toThrow();
  }
});
