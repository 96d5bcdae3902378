import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listenerOf, loadPeerCredentials, peerCredentials } from '../../src/os/peer-credentials.ts';

let dir: string;
let path: string;

beforeEach(() => {
  loadPeerCredentials();
  dir = mkdtempSync(join(tmpdir(), 'pc-'));
  path = join(dir, 's.sock');
});
afterEach(() => rmSync(dir, { recursive: true }));

async function listening(onSocket: (socket: Socket) => void = () => {}) {
  // Half-open as the wrapper's own server: a sender that ends does not close the connection.
  const server = createServer({ allowHalfOpen: true }, onSocket).listen(path);
  await once(server, 'listening');
  return server;
}

const child = (code: string) =>
  spawn(process.execPath, ['-e', code, path], { stdio: ['pipe', 'pipe', 'inherit'] });

describe('the kernel says who is at the other end', () => {
  it('names the process that connected, also when it has ended since', async () => {
    const server = await listening();
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const sender = child(
      'require("net").connect(process.argv[1], () => setTimeout(() => process.exit(), 20))',
    );
    const [socket] = await accepted;
    await once(sender, 'exit');
    expect(peerCredentials(socket)).toEqual({ pid: sender.pid, uid: process.getuid?.() });
    socket.destroy();
    server.close();
  });

  it('names the process that listens, not the one that asks', async () => {
    const owner = child(
      'require("net").createServer(s=>s.resume()).listen(process.argv[1],()=>console.log("up"))',
    );
    await once(owner.stdout, 'data');
    expect(await listenerOf(path)).toEqual({ pid: owner.pid, uid: process.getuid?.() });
    owner.kill();
    await once(owner, 'exit');
    expect(await listenerOf(path)).toBeNull();
  });

  it('names nobody where no socket is', async () => {
    expect(await listenerOf(join(dir, 'none.sock'))).toBeNull();
  });

  it('says nothing of a connection that is closed', async () => {
    const server = await listening((socket) => socket.resume());
    const socket = connect(path);
    await once(socket, 'connect');
    socket.destroy();
    expect(peerCredentials(socket)).toBeNull();
    server.close();
  });
});
