import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  controlFolders,
  findControlSocket,
  ownControlSocket,
  sweepControlSockets,
} from '../../src/control/place.ts';
import { LIMITS } from '../../src/limits.ts';
import { deadSocket, listen, tempFolder } from '../os/fixtures.ts';

test('both folders are named after the user, and their sockets have a path that can be connected to', () => {
  for (const folder of controlFolders(4_294_967_294)) {
    expect(folder).toContain('4294967294');
    expect(Buffer.byteLength(join(folder, '4194304.sock'))).toBeLessThanOrEqual(LIMITS.socketPathBytes);
  }
});

test('a folder that others can enter is passed over for the next one', () => {
  using temp = tempFolder();
  const folders = [join(temp.path, 'open'), join(temp.path, 'own')];
  mkdirSync(folders[0]!);
  chmodSync(folders[0]!, 0o777);
  expect(ownControlSocket(7, folders)).toBe(join(folders[1]!, '7.sock'));
});

test('where no folder can be used the first problem is told', () => {
  using temp = tempFolder();
  writeFileSync(join(temp.path, 'file'), '');
  const folders = [join(temp.path, 'file'), join(temp.path, 'file', 'below')];
  expect(() => ownControlSocket(7, folders)).toThrow(folders[0]!);
});

test('a socket is found in whichever folder it is, and a file in its place is none', async () => {
  using temp = tempFolder();
  const folders = [join(temp.path, 'a'), join(temp.path, 'b')];
  for (const folder of folders) mkdirSync(folder);
  expect(findControlSocket(7, folders)).toBeNull();
  writeFileSync(join(folders[0]!, '7.sock'), '');
  await using _listener = await listen(join(folders[1]!, '7.sock'));
  expect(findControlSocket(7, folders)).toBe(join(folders[1]!, '7.sock'));
});

test('sockets of killed wrappers are removed, nothing else', async () => {
  using temp = tempFolder();
  const path = (name: string) => join(temp.path, name);
  await deadSocket(path('7.sock'));
  await deadSocket(path('other.sock'));
  writeFileSync(path('8.sock'), 'a file');
  await using _listener = await listen(path('9.sock'));
  await sweepControlSockets([temp.path, path('missing')]);
  expect(['7.sock', 'other.sock', '8.sock', '9.sock'].filter((name) => existsSync(path(name)))).toEqual([
    'other.sock',
    '8.sock',
    '9.sock',
  ]);
});
