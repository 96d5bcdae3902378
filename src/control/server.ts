import { createServer, type Socket } from 'node:net';
import { errorMessage } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { bindServer } from '../os/bind.ts';
import { loadPeerCredentials, type PeerCredentials, peerCredentials } from '../os/peer-credentials.ts';
import { ControlConnection, type ControlHandlers, type ControlLog } from './connection.ts';

export type { ControlHandlers, ControlLog } from './connection.ts';

export interface ControlOptions {
  /** In a private folder: `ownControlSocket`. */
  readonly socketPath: string;
  readonly handlers: ControlHandlers;
  readonly log: ControlLog;
}

export interface ControlServer {
  /** Removes the socket; open calls have a moment to be answered. Idempotent, never rejects. */
  close(): Promise<void>;
}

/**
 * Serves our own processes (protocol.ts says how they speak). Who connects is asked of the kernel; another user's
 * process is cut off, whatever the mode of the socket says.
 * Rejects with a `PeerError` when it cannot listen.
 */
export async function serveControl({ socketPath, handlers, log }: ControlOptions): Promise<ControlServer> {
  loadPeerCredentials();
  const connections = new Set<ControlConnection>();
  const server = createServer(onConnection);
  server.maxConnections = LIMITS.controlConnections;
  server.on('drop', () => log.write('control-full', { max: LIMITS.controlConnections }));
  const binding = await bindServer(server, socketPath);
  server.on('error', (error) => log.write('control-failed', { message: errorMessage(error) }));

  function onConnection(socket: Socket): void {
    const credentials = peerCredentials(socket);
    if (credentials === null || !isAllowed(credentials)) {
      log.write('control-refused', { pid: credentials?.pid, uid: credentials?.uid });
      socket.destroy();
      return;
    }
    const connection = new ControlConnection({ socket, pid: credentials.pid, handlers, log });
    connections.add(connection);
    socket.once('close', () => connections.delete(connection));
  }

  async function shutDown(): Promise<void> {
    binding.unlink();
    const closed = new Promise((resolve) => server.close(resolve));
    await Promise.all([...connections].map((connection) => connection.stop()));
    await closed;
  }

  let closing: Promise<void> | undefined;
  return {
    close() {
      closing ??= shutDown();
      return closing;
    },
  };
}

/** Only a process of our own user; one that the kernel says nothing of is nobody's. */
export function isAllowed(
  { uid }: Pick<PeerCredentials, 'uid'>,
  ownUid: number | undefined = process.getuid?.(),
): boolean {
  return uid === ownUid;
}
