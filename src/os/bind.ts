import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { errorCode, errorMessage, PeerError } from '../errors.ts';
import { LIMITS } from '../limits.ts';

/** The socket file this process listens on. */
export interface Binding {
  /** Removes the file, unless somebody put another one in its place. */
  unlink(): void;
}

/**
 * Makes `server` listen at `socketPath`, mode 0600, in a folder that exists. A dead socket there is replaced.
 * Rejects with `internal` when somebody listens there or the path is too long, with `unsafe-folder` when the
 * folder does not take a socket.
 */
export async function bindServer(server: Server, socketPath: string): Promise<Binding> {
  const length = Buffer.byteLength(socketPath);
  if (length > LIMITS.socketPathBytes) {
    throw new PeerError(
      'internal',
      `The socket path ${socketPath} has ${length} bytes; ${LIMITS.socketPathBytes} are possible.`,
    );
  }
  if (await isListenedOn(socketPath)) {
    throw new PeerError(
      'internal',
      `Another process listens on ${socketPath}, so nothing could reach this peer.`,
    );
  }
  // Node unlinks the path it bound when it closes, whoever's file is there by then: it is given a name of its
  // own, and the file is moved into place when its mode is right.
  const boundPath = join(dirname(socketPath), `.${randomBytes(3).toString('hex').slice(0, 5)}`);
  try {
    await listen(server, boundPath);
    chmodSync(boundPath, 0o600);
    const inode = inodeOf(boundPath);
    renameSync(boundPath, socketPath);
    return { unlink: () => unlinkIfOurs(socketPath, inode) };
  } catch (error) {
    server.close();
    const message = `Cannot listen on ${socketPath}: ${errorMessage(error)}. Nothing can reach this peer; check the folder.`;
    throw new PeerError('unsafe-folder', message, { cause: error });
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function isListenedOn(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(true));
    // Anything else (a full backlog, a foreign socket) is somebody's; replacing it would cut them off.
    socket.once('error', (error) => resolve(!['ENOENT', 'ECONNREFUSED'].includes(errorCode(error) ?? '')));
    socket.on('connect', () => socket.destroy());
  });
}

function unlinkIfOurs(path: string, inode: string | null): void {
  // While we listen the kernel keeps our inode, so no other file can have got its number.
  if (inode !== null && inodeOf(path) === inode) rmSync(path, { force: true });
}

function inodeOf(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}
