import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSocket, type TextSocketListener } from '../../src/rpc/socket.ts';
import { FakeAppServer } from './fake-app-server.ts';

const silent: TextSocketListener = { onText() {}, onClose() {} };
const never = new AbortController().signal;

describe('a connection to the daemon’s socket', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'peer-socket-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('follows a symbolic link whose own path is too long to connect to', async () => {
    await using server = await FakeAppServer.start();
    const deep = join(folder, 'd'.repeat(120));
    mkdirSync(deep, { mode: 0o700 });
    symlinkSync(join(server.folder, 't'), join(deep, 'control.sock'));
    const socket = await openSocket(join(deep, 'control.sock'), silent, never);
    socket.close();
  });

  test('says ENOENT when there is no socket, no folder, or a link to nothing', async () => {
    symlinkSync(join(folder, 'gone'), join(folder, 'dangling'));
    for (const path of [join(folder, 'none'), join(folder, 'no-folder', 's'), join(folder, 'dangling')]) {
      await expect(openSocket(path, silent, never)).rejects.toMatchObject({ code: 'ENOENT' });
    }
  });

  test('says ECONNREFUSED when a killed server left its socket', async () => {
    const path = await abandonedSocket(folder);
    await expect(openSocket(path, silent, never)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('is refused where another user could have put the socket', async () => {
    await using server = await FakeAppServer.start();
    chmodSync(server.folder, 0o777);
    await expect(openSocket(server.socketPath, silent, never)).rejects.toMatchObject({
      word: 'unsafe-folder',
    });
  });

  test('ends at once when its signal is aborted during the handshake', async () => {
    const mute = createServer(() => {});
    const path = join(folder, 'mute.sock');
    await new Promise<void>((resolve) => mute.listen(path, resolve));
    const ending = new AbortController();
    const opening = openSocket(path, silent, ending.signal);
    setTimeout(() => ending.abort(), 20);
    await expect(opening).rejects.toMatchObject({ word: 'connection-closed' });
    mute.close();
  });
});

/** A socket that nobody listens on, as SIGKILL leaves it: bound by a process that is ended without a close. */
async function abandonedSocket(folder: string): Promise<string> {
  const { spawn } = await import('node:child_process');
  const path = join(folder, 'left.sock');
  const code = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  const child = spawn(process.execPath, ['-e', code], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
  return path;
}
