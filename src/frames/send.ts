import { connect } from 'node:net';
import { errorCode, PeerError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { wellFormedJson } from '../os/json.ts';
import type { ControlFrame, UserFrame } from './outbound.ts';

export {
  type ControlFrame,
  controlFrame,
  type UserFrame,
  userFrame,
} from './outbound.ts';

export interface SendOptions {
  readonly socketPath: string;
  /** The receiver's token; null sends without an auth line, which Claude Code takes as a stranger's. */
  readonly token: string | null;
  readonly frame: UserFrame | ControlFrame;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes one frame as Claude Code 2.1.332 does: auth line, frame line and EOF in one write on a connection of
 * its own. `written` means that the receiver took all of it and closed; it says nothing about delivery.
 * Rejects with `not-sent` before the first byte, with `maybe-written` after it: sending again may double it.
 */
export function sendFrame({ socketPath, token, frame, signal }: SendOptions): Promise<'written'> {
  const auth = token === null ? '' : `${JSON.stringify({ type: 'auth', token })}\n`;
  const bytes = `${auth}${wellFormedJson(frame)}\n`;
  if (bytes.length > LIMITS.frameChars) return Promise.reject(tooLarge(bytes.length));
  if (signal?.aborted) return Promise.reject(notSent(socketPath, 'it was canceled'));

  return new Promise((resolve, reject) => {
    // Half-open, so that a receiver that ends early does not end our writing.
    const socket = connect({ path: socketPath, allowHalfOpen: true });
    const timer = setTimeout(() => socket.destroy(new Error('no answer in time')), LIMITS.sendMs);
    let isWriting = false;
    let isFlushed = false;
    let cause: unknown;

    const onAbort = () => socket.destroy(new Error('it was canceled'));
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => {
      isWriting = true;
      socket.once('finish', () => {
        isFlushed = true;
      });
      socket.end(bytes);
    });
    socket.on('error', (error) => {
      cause ??= error;
    });
    // A receiver must not write back; what one writes all the same is not read as anything.
    socket.resume();
    socket.once('close', () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      if (cause === undefined && isFlushed) resolve('written');
      else if (isWriting) reject(maybeWritten(socketPath, reasonOf(cause), cause));
      else reject(notSent(socketPath, reasonOf(cause), cause));
    });
  });
}

function reasonOf(cause: unknown): string {
  switch (errorCode(cause)) {
    case 'ENOENT':
      return 'its socket is gone';
    case 'ECONNREFUSED':
      return 'nobody listens on its socket any more';
    case 'EAGAIN':
      return 'it takes no connections just now';
    case 'EACCES':
      return 'its socket belongs to somebody else';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'it hung up';
    default:
      return cause instanceof Error ? cause.message : 'it hung up';
  }
}

function notSent(socketPath: string, reason: string, cause?: unknown): PeerError {
  const message = `Not sent to ${socketPath}: ${reason}. Nothing of the message arrived; "peer list" shows who can be reached.`;
  return new PeerError('not-sent', message, { cause });
}

function maybeWritten(socketPath: string, reason: string, cause?: unknown): PeerError {
  const message = `Unclear whether ${socketPath} got the message: ${reason} while it was written. Sending it again may double it.`;
  return new PeerError('maybe-written', message, { cause });
}

function tooLarge(chars: number): PeerError {
  const message = `Not sent: the message is ${chars} characters with its framing, a peer takes ${LIMITS.frameChars}. Put the text in a file and send its path.`;
  return new PeerError('not-sent', message);
}
