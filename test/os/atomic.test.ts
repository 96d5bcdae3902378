import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { removeFile, writeAtomic } from '../../src/os/atomic.ts';
import { tempFolder, until } from './fixtures.ts';

it('writes the text with the mode and leaves nothing else in the folder', () => {
  using folder = tempFolder();
  const file = join(folder.path, 'row.json');
  writeAtomic(file, 'first', 0o600);
  writeAtomic(file, 'secönd', 0o600);
  expect(readFileSync(file, 'utf8')).toBe('secönd');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder.path)).toEqual(['row.json']);
});

it('never shows a reader a part of the text', async () => {
  using folder = tempFolder();
  const file = join(folder.path, 'row.json');
  const texts = ['a'.repeat(200_000), 'b'.repeat(100_000)];
  writeAtomic(file, texts[0]!, 0o600);
  const code = `
    const { readFileSync } = require('node:fs');
    const { parentPort, workerData } = require('node:worker_threads');
    parentPort.postMessage('up');
    for (const end = Date.now() + 300; Date.now() < end; ) {
      const text = readFileSync(workerData, 'utf8');
      if (!/^(a{200000}|b{100000})$/.test(text)) parentPort.postMessage('torn');
    }`;
  const worker = new Worker(code, { eval: true, workerData: file });
  const messages: string[] = [];
  let hasEnded = false;
  worker.on('message', (message) => messages.push(message));
  worker.on('exit', () => {
    hasEnded = true;
  });
  await until(() => messages.length > 0);
  for (let n = 0; !hasEnded; n += 1) {
    writeAtomic(file, texts[n % 2]!, 0o600);
    if (n % 10 === 0) await new Promise(setImmediate);
  }
  expect(messages).toEqual(['up']);
});

it('replaces a link and leaves what it pointed to alone', () => {
  using folder = tempFolder();
  const [target, file] = [join(folder.path, 'target'), join(folder.path, 'row.json')];
  writeFileSync(target, 'untouched');
  symlinkSync(target, file);
  writeAtomic(file, 'row', 0o600);
  expect(readFileSync(target, 'utf8')).toBe('untouched');
});

it('goes on when an earlier process with our pid left its temporary file', () => {
  using folder = tempFolder();
  const file = join(folder.path, 'row.json');
  const next = lastNumber(folder.path) + 1;
  for (const n of [next, next + 1])
    writeFileSync(join(folder.path, `.row.json.${process.pid}.${n}.tmp`), 'left');
  writeAtomic(file, 'row', 0o600);
  expect(readFileSync(file, 'utf8')).toBe('row');
  expect(readdirSync(folder.path).filter((name) => name.endsWith('.tmp'))).toHaveLength(2);
});

it('removes its temporary file when the file cannot be replaced', () => {
  using folder = tempFolder();
  const file = join(folder.path, 'row.json');
  mkdirSync(join(file, 'full'), { recursive: true });
  expect(() => writeAtomic(file, 'row', 0o600)).toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
  expect(readdirSync(folder.path)).toEqual(['row.json']);
});

it('says whether there was a file to remove', () => {
  using folder = tempFolder();
  const file = join(folder.path, 'row.json');
  writeFileSync(file, '');
  expect(removeFile(file)).toBe(true);
  expect(removeFile(file)).toBe(false);
  writeFileSync(file, '');
  expect(removeFile(join(file, 'below'))).toBe(false);
});

/** The number in the name of the temporary file written last, told by an error. */
function lastNumber(dir: string): number {
  const inTheWay = join(dir, 'full');
  mkdirSync(join(inTheWay, 'folder'), { recursive: true });
  try {
    writeAtomic(inTheWay, '', 0o600);
  } catch (error) {
    return Number(/\.(\d+)\.tmp$/.exec((error as NodeJS.ErrnoException).path!)![1]);
  }
  return expect.fail('a folder was replaced');
}
