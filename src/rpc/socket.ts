import { lstat, readlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import WebSocket from 'ws';
import { errorCode, PeerError } from '../errors.ts';
import { LIMITS } from '../limits.ts';

/** A connection that moves whole text frames and knows nothing of what they mean. */
export interface TextSocket {
  send(text: string): void;
  close(): void;
}

export interface TextSocketListener {
  onText(text: string): void;
  /** Called once, after the last `onText`. */
  onClose(): void;
}

/**
 * Opens a WebSocket to the Unix socket at `path`, following it when it is a symbolic link: a path over
 * 107 bytes cannot be connected to, its target always can (Codex 0.171.0).
 *
 * Rejects with the system error when nobody listens (`ENOENT`: absent, `ECONNREFUSED`: left by a killed
 * server), with PeerError `unsafe-folder` when somebody else could have put the socket there, and with
 * `connection-closed` when no WebSocket comes about. `signal` ends an attempt, not the connection.
 */
export async function openSocket(
  path: string,
  listener: TextSocketListener,
  signal: AbortSignal,
): Promise<TextSocket> {
  await checkOwner(dirname(path));
  const target = await linkTarget(path);
  if (target !== path) await checkOwner(dirname(target));
  await checkOwner(target);
  return connect(target, listener, signal);
}

function connect(target: string, listener: TextSocketListener, signal: AbortSignal): Promise<TextSocket> {
  const webSocket = new WebSocket(`ws+unix://${target}:/`, {
    perMessageDeflate: false,
    maxPayload: LIMITS.rpcFrameBytes,
    handshakeTimeout: LIMITS.rpcMs,
  });
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    webSocket.on('error', (error) => reject(handshakeError(error)));
    webSocket.on('message', (data, isBinary) => {
      if (!isBinary) listener.onText(String(data));
    });
    webSocket.on('close', () => signal.removeEventListener('abort', abort));
    webSocket.on('open', () => {
      signal.removeEventListener('abort', abort);
      webSocket.on('close', () => listener.onClose());
      resolve({
        send: (text) => webSocket.send(text, ignoreSendError),
        // The server never answers the closing handshake (Codex 0.171.0): waiting for it would keep the socket.
        close: () => webSocket.terminate(),
      });
    });
  });

  function abort(): void {
    webSocket.terminate();
  }
}

/** A server that accepts and then says nothing, or something else than WebSocket, has no system error. */
function handshakeError(error: Error): Error {
  if (errorCode(error) !== undefined) return error;
  return new PeerError('connection-closed', `The Codex daemon took no connection: ${error.message}`, {
    cause: error,
  });
}

/** A failed write is followed by `close`, which is where every pending call ends. */
function ignoreSendError(): void {}

async function linkTarget(path: string): Promise<string> {
  try {
    return resolve(dirname(path), await readlink(path));
  } catch (error) {
    if (errorCode(error) === 'EINVAL') return path;
    throw error;
  }
}

async function checkOwner(path: string): Promise<void> {
  const entry = await lstat(path);
  const writableByOthers = entry.isDirectory() && (entry.mode & 0o022) !== 0 && (entry.mode & 0o1000) === 0;
  if (entry.uid === process.getuid?.() && !writableByOthers) return;
  throw new PeerError(
    'unsafe-folder',
    `${path} can be written by another user, so the Codex daemon behind it is not trusted and no message is given to it. Correct its owner and mode, then open again.`,
  );
}
