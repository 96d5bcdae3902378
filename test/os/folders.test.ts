import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PeerError } from '../../src/errors.ts';
import { ensureOwnDir, ensurePrivateDir, homeDir, stateDir } from '../../src/os/folders.ts';
import { tempFolder } from './fixtures.ts';

it('keeps state where XDG says, else below the home folder', () => {
  expect(stateDir({ HOME: '/home/ada', XDG_STATE_HOME: '/var/state' })).toBe('/var/state/peer');
  expect(stateDir({ HOME: '/home/ada' })).toBe('/home/ada/.local/state/peer');
  expect(stateDir({ HOME: '/home/ada', XDG_STATE_HOME: '' })).toBe('/home/ada/.local/state/peer');
  expect(homeDir({})).toBe(homedir());
});

describe('a private folder', () => {
  it('is created with its parents, for us alone', () => {
    using folder = tempFolder();
    const dir = join(folder.path, 'a', 'b');
    ensurePrivateDir(dir);
    ensurePrivateDir(dir);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  it.each(['750', '710', '702', '701'])('is refused with mode %s, with the command that helps', (mode) => {
    using folder = tempFolder();
    chmodSync(folder.path, mode);
    expectUnsafe(() => ensurePrivateDir(folder.path), `chmod 700 ${folder.path}`);
  });

  it('is refused when it is a link, even to a private folder of ours', () => {
    using folder = tempFolder();
    const [real, link] = [join(folder.path, 'real'), join(folder.path, 'link')];
    mkdirSync(real, { mode: 0o700 });
    symlinkSync(real, link);
    expectUnsafe(() => ensurePrivateDir(link), 'symbolic link');
  });

  it('is refused when it belongs to somebody else', () => {
    using folder = tempFolder();
    asAnotherUser();
    expectUnsafe(() => ensurePrivateDir(folder.path), 'not to you');
  });

  it.each(['file', 'file/below', 'loop/below'])('is refused when %s stands in the way', (path) => {
    using folder = tempFolder();
    writeFileSync(join(folder.path, 'file'), '');
    symlinkSync('loop', join(folder.path, 'loop'));
    expectUnsafe(() => ensurePrivateDir(join(folder.path, path)), 'cannot be created');
  });
});

describe('a folder whose shape another program owns', () => {
  it('may be readable by others and reached through a link', () => {
    using folder = tempFolder();
    const [real, link] = [join(folder.path, 'real'), join(folder.path, 'link')];
    mkdirSync(real);
    chmodSync(real, 0o755);
    symlinkSync(real, link);
    ensureOwnDir(link);
  });

  it.each(['720', '702'])('is refused with mode %s', (mode) => {
    using folder = tempFolder();
    chmodSync(folder.path, mode);
    expectUnsafe(() => ensureOwnDir(folder.path), `chmod go-w ${folder.path}`);
  });

  it('is refused when it belongs to somebody else', () => {
    using folder = tempFolder();
    asAnotherUser();
    expectUnsafe(() => ensureOwnDir(folder.path), 'not to you');
  });
});

function asAnotherUser(): void {
  const uid = process.getuid!() + 1;
  const spy = vi.spyOn(process, 'getuid').mockReturnValue(uid);
  onTestFinished(() => spy.mockRestore());
}

function expectUnsafe(action: () => void, words: string): void {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(PeerError);
    expect(error).toMatchObject({ word: 'unsafe-folder', message: expect.stringContaining(words) });
    return;
  }
  expect.fail('the folder was accepted');
}
