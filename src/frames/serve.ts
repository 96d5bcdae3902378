import { createServer, type Socket } from 'node:net';
import { errorMessage } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { bindServer } from '../os/bind.ts';
import { Connection, type EventLog, type FrameHandlers } from './connection.ts';

export type { EventLog, FrameHandlers } from './connection.ts';

/** What `identify` tells: who connected, with anything else that handlers want to know. */
export type Connected = { readonly pid: number } | null;

export interface ServeOptions<Peer extends Connected> extends FrameHandlers<Peer> {
  /** In a folder that is there and private. */
  readonly socketPath: string;
  readonly token: string;
  /** Asks the kernel who connected, at accept: the sender can be gone when its line is read. */
  readonly identify?: (socket: Socket) => Peer | null;
  readonly log: EventLog;
  /** Aborting it closes the server. */
  readonly signal?: AbortSignal | undefined;
}

export interface FrameServer {
  /** Removes the socket, accepts nothing more, lets running handlers finish. Idempotent, never rejects. */
  close(): Promise<void>;
}

/**
 * Receives frames as Claude Code 2.1.332 sends them: one connection per frame, an auth line before it, EOF
 * after it. Answers nothing, and ends a connection when its frames are handled: the sender takes anything
 * else, and an end later than 5 s, for a failure. Connections without a byte are probes and go unnoticed.
 * Frames of all connections are handled one after the other, in the order they arrived.
 * Rejects with a `PeerError` when it cannot listen.
 */
export async function serveFrames<Peer extends Connected = null>(
  options: ServeOptions<Peer>,
): Promise<FrameServer> {
  const { socketPath, token, identify, log, signal } = options;
  const connections = new Map<Socket, Connection<Peer>>();
  const inOrder = taskChain(log);

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const peer = identified(socket);
    if (peer !== null && countOf(peer.pid) >= LIMITS.connectionsPerPid) {
      log.write('connections-of-process-full', { pid: peer.pid, max: LIMITS.connectionsPerPid });
      socket.destroy();
      return;
    }
    connections.set(socket, new Connection({ socket, peer, token, handlers: options, inOrder, log }));
    socket.once('close', () => connections.delete(socket));
  });
  server.maxConnections = LIMITS.connections;
  server.on('drop', () => log.write('connections-full', { max: LIMITS.connections }));

  const binding = await bindServer(server, socketPath);
  server.on('error', (error) => log.write('server-failed', { message: errorMessage(error) }));

  function identified(socket: Socket): Peer | null {
    try {
      return identify?.(socket) ?? null;
    } catch (error) {
      log.write('identify-failed', { message: errorMessage(error) });
      return null;
    }
  }

  function countOf(pid: number): number {
    return [...connections.values()].filter(({ peer }) => peer?.pid === pid).length;
  }

  async function shutDown(): Promise<void> {
    signal?.removeEventListener('abort', close);
    binding.unlink();
    const closed = new Promise((resolve) => server.close(resolve));
    for (const connection of connections.values()) connection.stop();
    const timer = setTimeout(() => destroyAll(connections.keys()), LIMITS.recordMs);
    await closed;
    clearTimeout(timer);
  }

  let closing: Promise<void> | undefined;
  function close(): Promise<void> {
    closing ??= shutDown();
    return closing;
  }

  signal?.addEventListener('abort', close, { once: true });
  if (signal?.aborted) await close();
  return { close };
}

/** Runs tasks one after the other; one that fails is logged and does not stop the next. */
function taskChain(log: EventLog): (task: () => Promise<void> | void) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (task) => {
    last = last.then(task).catch((error: unknown) => {
      log.write('handler-failed', { message: errorMessage(error) });
    });
    return last;
  };
}

function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy();
}
