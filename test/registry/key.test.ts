import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keyFile, newToken, readToken } from '../../src/registry/key.ts';
import { registry, TOKEN } from './fixtures.ts';

const SOCKET = '/run/user/1000/cc-socks/4242.sock';

it('makes tokens of 32 hex digits, never the same', () => {
  expect(newToken()).toMatch(/^[0-9a-f]{32}$/);
  expect(newToken()).not.toBe(newToken());
});

it('names the key by pid and the hash of the socket path, as Claude Code looks for it', () => {
  const hash = '1bee33e60ccd43d6398becd630eb49e9850a4ac16f85832ad38e9ae71f7ae4a0';
  expect(keyFile('/c/sessions', 4242, SOCKET)).toBe(`/c/sessions/4242.${hash}.key`);
});

it('finds a token by the socket, whatever pid the file has', () => {
  using at = registry();
  writeFileSync(keyFile(at.sessionsDir, 7, SOCKET), JSON.stringify({ peerToken: TOKEN, procStart: '1' }));
  writeFileSync(keyFile(at.sessionsDir, 4242, '/other.sock'), JSON.stringify({ peerToken: newToken() }));
  expect(readToken(at.sessionsDir, SOCKET)).toBe(TOKEN);
});

it('takes the key of the process that the socket is named after, whatever other keys are put beside it', () => {
  using at = registry();
  const write = (pid: number, socket: string, token: string) =>
    writeFileSync(keyFile(at.sessionsDir, pid, socket), JSON.stringify({ peerToken: token }));
  for (const pid of [1, 9_999_999]) write(pid, SOCKET, newToken());
  write(4242, SOCKET, TOKEN);
  expect(readToken(at.sessionsDir, SOCKET)).toBe(TOKEN);
  expect(readToken(at.sessionsDir, SOCKET, 1)).toBe(TOKEN);
  writeFileSync(keyFile(at.sessionsDir, 4242, SOCKET), 'malformed');
  expect(readToken(at.sessionsDir, SOCKET)).toBeNull();
});

it('takes the key of the process of the row where the socket is named after none', () => {
  using at = registry();
  for (const pid of [1, 4242, 9_999_999]) {
    const peerToken = pid === 4242 ? TOKEN : newToken();
    writeFileSync(keyFile(at.sessionsDir, pid, '/x/own.sock'), JSON.stringify({ peerToken }));
  }
  expect(readToken(at.sessionsDir, '/x/own.sock', 4242)).toBe(TOKEN);
});

it('does not wait for a fifo in place of a key, nor read a device', () => {
  using at = registry();
  execFileSync('mkfifo', [keyFile(at.sessionsDir, 4242, SOCKET)]);
  symlinkSync('/dev/zero', keyFile(at.sessionsDir, 7, '/x.sock'));
  expect(readToken(at.sessionsDir, SOCKET)).toBeNull();
  expect(readToken(at.sessionsDir, '/x.sock')).toBeNull();
});

it.each([
  ['no JSON', '{"peerToken":'],
  ['no object', 'null'],
  ['no token', '{}'],
  ['another type', '{"peerToken":7}'],
  ['upper case', JSON.stringify({ peerToken: TOKEN.toUpperCase() })],
  ['too short', JSON.stringify({ peerToken: TOKEN.slice(1) })],
  ['too long', JSON.stringify({ peerToken: `${TOKEN}0` })],
  ['a line feed after it', JSON.stringify({ peerToken: `${TOKEN}\n` })],
])('has no token for a malformed key: %s', (_, text) => {
  using at = registry();
  writeFileSync(keyFile(at.sessionsDir, 4242, SOCKET), text);
  expect(readToken(at.sessionsDir, SOCKET)).toBeNull();
});

it('has no token when there is no key, no folder or a folder in its place', () => {
  using at = registry();
  expect(readToken(at.sessionsDir, SOCKET)).toBeNull();
  expect(readToken(join(at.sessionsDir, 'missing'), SOCKET)).toBeNull();
  mkdirSync(keyFile(at.sessionsDir, 4242, SOCKET));
  expect(readToken(at.sessionsDir, SOCKET)).toBeNull();
});
