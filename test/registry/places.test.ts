import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { places, socketPath } from '../../src/registry/places.ts';
import { tempFolder } from '../os/fixtures.ts';

const FALLBACK = `/tmp/cc-socks-${process.getuid!()}`;

it('takes the folders Claude Code takes', () => {
  using folder = tempFolder();
  expect(places({ HOME: '/home/ada', XDG_RUNTIME_DIR: folder.path })).toEqual({
    configDir: '/home/ada/.claude',
    sessionsDir: '/home/ada/.claude/sessions',
    threadsDir: '/home/ada/.claude/codex-peer-threads',
    socketDir: join(folder.path, 'cc-socks'),
  });
  expect(places({ HOME: '/home/ada', CLAUDE_CONFIG_DIR: '/srv/c' }).sessionsDir).toBe('/srv/c/sessions');
});

it('puts sockets below the temporary folder where there is no runtime folder', () => {
  using folder = tempFolder();
  expect(places({ TMPDIR: folder.path }).socketDir).toBe(join(folder.path, 'cc-socks'));
  expect(places({ CLAUDE_CODE_TMPDIR: folder.path, TMPDIR: '/x' }).socketDir).toBe(
    join(folder.path, 'cc-socks'),
  );
  expect([places({}).socketDir, FALLBACK]).toContain(places({}).socketDir);
  expect(places({}).socketDir).toMatch(/^\/tmp\/cc-socks/);
});

it('names a socket for the process that listens on it', () => {
  expect(socketPath({ socketDir: '/run/user/1/cc-socks' }, 42)).toBe('/run/user/1/cc-socks/42.sock');
});

it('falls back when the path has more than 103 bytes, counted in bytes', () => {
  const room = 103 - '/42.sock'.length;
  const fits = `/${'x'.repeat(room - 1)}`;
  expect(socketPath({ socketDir: fits }, 42)).toBe(`${fits}/42.sock`);
  expect(socketPath({ socketDir: `${fits}x` }, 42)).toBe(`${FALLBACK}/42.sock`);
  expect(socketPath({ socketDir: `/${'ö'.repeat(room / 2)}x` }, 42)).toBe(`${FALLBACK}/42.sock`);
  expect(places({ XDG_RUNTIME_DIR: `/tmp/${'x'.repeat(100)}` }).socketDir).toBe(FALLBACK);
});

it('falls back when the folder belongs to somebody else', () => {
  using folder = tempFolder();
  mkdirSync(join(folder.path, 'cc-socks'));
  const uid = process.getuid!();
  const spy = vi.spyOn(process, 'getuid').mockReturnValue(uid + 1);
  onTestFinished(() => spy.mockRestore());
  expect(places({ XDG_RUNTIME_DIR: folder.path }).socketDir).toBe(`/tmp/cc-socks-${uid + 1}`);
});

it('falls back when others could put another folder in its place', () => {
  using folder = tempFolder();
  const runtime = join(folder.path, 'run');
  mkdirSync(runtime);
  chmodSync(runtime, 0o777);
  expect(places({ XDG_RUNTIME_DIR: runtime }).socketDir).toBe(FALLBACK);
  chmodSync(runtime, 0o1777);
  expect(places({ XDG_RUNTIME_DIR: runtime }).socketDir).toBe(join(runtime, 'cc-socks'));
});
