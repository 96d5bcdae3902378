import { connect, type Socket } from 'node:net';
import { errorMessage, PeerError } from '../errors.ts';
import { libc } from './libc.ts';
import { isOurSocket } from './probe.ts';

/** The process at the other end of a unix socket, as the kernel knows it. */
export interface PeerCredentials {
  readonly pid: number;
  readonly uid: number;
}

/** The two ways to ask: `SO_PEERCRED` (a struct ucred) on Linux, `LOCAL_PEERPID` on macOS. */
type Ask = (fd: number) => PeerCredentials | null;

const LIMIT_MS = 500;

let ask: Ask | null = null;

/**
 * Makes sure that the kernel can be asked; costs about 20 ms, once.
 * @throws PeerError `native-missing` when the native module cannot be loaded: then no sender could be verified
 */
export function loadPeerCredentials(): void {
  if (ask !== null) return;
  try {
    ask = process.platform === 'darwin' ? darwin() : linux();
  } catch (error) {
    const why = `The native module that tells who connects (koffi) cannot be loaded: ${errorMessage(error)}.`;
    throw new PeerError(
      'native-missing',
      `${why} Without it no sender can be verified. Run: npm rebuild koffi`,
    );
  }
}

/**
 * Who is at the other end: on an accepted connection the process that connected, even when it has ended since; on
 * one that we made, the process that listens. Null when the kernel does not say (closed, another pid namespace).
 */
export function peerCredentials(socket: Socket): PeerCredentials | null {
  const fd = fdOf(socket);
  if (ask === null || fd === null) return null;
  const credentials = ask(fd);
  return credentials !== null && credentials.pid > 0 ? credentials : null;
}

/** Who listens on a socket of ours: connects and closes without a byte. Null when nobody does. Never rejects. */
export function listenerOf(socketPath: string): Promise<PeerCredentials | null> {
  if (!isOurSocket(socketPath)) return Promise.resolve(null);
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const end = (found: PeerCredentials | null) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(found);
    };
    const timer = setTimeout(end, LIMIT_MS, null);
    socket.once('connect', () => end(peerCredentials(socket)));
    socket.once('error', () => end(null));
  });
}

/** Node has no public way to a socket's descriptor. */
function fdOf(socket: Socket): number | null {
  const { _handle: handle } = socket as unknown as { _handle?: { fd?: number } | null };
  return handle?.fd !== undefined && handle.fd >= 0 ? handle.fd : null;
}

const GETSOCKOPT =
  'int getsockopt(int fd, int level, int name, _Out_ uint8_t *value, _Inout_ uint32_t *size)';

function linux(): Ask {
  const getsockopt = libc(GETSOCKOPT);
  const [SOL_SOCKET, SO_PEERCRED] = [1, 17];
  return (fd) => {
    const ucred = Buffer.alloc(12);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ucred, [ucred.length]) !== 0) return null;
    return { pid: ucred.readInt32LE(0), uid: ucred.readUInt32LE(4) };
  };
}

/** The socket is 0600 in a folder of ours, so whoever connected is us; macOS is asked for the pid alone. */
function darwin(): Ask {
  const getsockopt = libc(GETSOCKOPT);
  const [SOL_LOCAL, LOCAL_PEERPID] = [0, 2];
  return (fd) => {
    const pid = Buffer.alloc(4);
    if (getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, pid, [pid.length]) !== 0) return null;
    return { pid: pid.readInt32LE(0), uid: process.getuid?.() ?? 0 };
  };
}
