import { connect, type Socket } from 'node:net';
import { errorMessage, PeerError } from '../errors.ts';
import { LineSplitter } from '../frames/lines.ts';
import { LIMITS } from '../limits.ts';
import {
  type ControlMethod,
  type ControlParams,
  type ControlResult,
  controlAnswer,
  RESULTS,
} from './protocol.ts';

const ID = 1;

export interface ControlCall<M extends ControlMethod> {
  readonly socketPath: string;
  readonly method: M;
  readonly params: ControlParams<M>;
  /** Aborting it ends the connection, which abandons the call at the other side too. */
  readonly signal: AbortSignal;
}

/**
 * Asks a wrapper on a connection of its own and waits for as long as the answer takes.
 *
 * Rejects with PeerError `not-sent` when nobody listens there, `maybe-written` when the connection ends without an
 * answer, `interrupted` when the signal aborts, and with what the wrapper says, in its own word, when it refuses.
 */
export async function callControl<M extends ControlMethod>(call: ControlCall<M>): Promise<ControlResult<M>> {
  const { socketPath, method, params, signal } = call;
  if (signal.aborted) throw abandoned();
  const socket = connect(socketPath);
  const onAbort = () => socket.destroy(abandoned());
  signal.addEventListener('abort', onAbort);
  try {
    const answer = answerOn(socket);
    socket.write(`${JSON.stringify({ id: ID, method, params })}\n`);
    const result = RESULTS[method].safeParse(await answer);
    if (!result.success) throw unreadable();
    return result.data as ControlResult<M>;
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
  }
}

/** The result in the answer to our one request; its `error` and the end of the connection reject. */
function answerOn(socket: Socket): Promise<unknown> {
  const lines = new LineSplitter(LIMITS.controlLineChars);
  let isConnected = false;
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      isConnected = true;
    });
    socket.on('data', (chunk) => {
      for (const line of lines.push(chunk)) settle(line);
      if (lines.overflowed) reject(unreadable());
    });
    socket.once('error', (error) => {
      if (error instanceof PeerError) reject(error);
      else reject(isConnected ? ended(error) : notThere(error));
    });
    socket.once('close', () => reject(ended()));

    function settle(line: string): void {
      const answer = controlAnswer.safeParse(json(line));
      if (!answer.success) return;
      const { id, result, error } = answer.data;
      if (error !== undefined) reject(new PeerError(error.word, error.message));
      else if (id === ID && result !== undefined) resolve(result);
    }
  });
}

function json(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function abandoned(): PeerError {
  return new PeerError('interrupted', 'The call was given up before it had a result.');
}

function notThere(cause: Error): PeerError {
  return new PeerError('not-sent', `The peer does not take calls (${errorMessage(cause)}).`, { cause });
}

function ended(cause?: Error): PeerError {
  return new PeerError('maybe-written', 'The peer ended before it answered; whether it acted is not known.', {
    cause,
  });
}

function unreadable(): PeerError {
  return new PeerError('internal', 'The peer answered with something that cannot be read.');
}
