import { errorCode, errorMessage, PeerError } from '../errors.ts';
import { shellWord } from '../os/terminal.ts';
import { RpcError } from '../rpc/client.ts';
import type { StartRefusal } from './harness.ts';

/** Why an attempt to have the thread ready came to nothing; decides what the connect loop does next. */
export type Failure =
  /** A socket that nobody listens on: the daemon was killed. */
  | { readonly kind: 'refused' }
  /** No socket: the daemon was stopped, or restarts just now. */
  | { readonly kind: 'absent' }
  /** The daemon finishes its turns before it ends; it takes no work and must not be started. */
  | { readonly kind: 'draining' }
  /** Connected, then lost before the thread was ready. */
  | { readonly kind: 'dropped' }
  /** Cannot be used now, for a reason a person may remove. */
  | { readonly kind: 'blocked'; readonly error: PeerError }
  /** Will never be usable again; `cause` is what an open peer closes with. */
  | { readonly kind: 'gone'; readonly error: PeerError; readonly cause: string };

/** Sorts what an attempt for the thread of peer `name` threw (wordings of Codex 0.171.0). */
export function classifyFailure(error: unknown, name: string): Failure {
  if (error instanceof RpcError) return classifyRefusal(error, name);
  if (error instanceof PeerError) {
    return error.word === 'connection-closed' ? { kind: 'dropped' } : { kind: 'blocked', error };
  }
  switch (errorCode(error)) {
    case 'ECONNREFUSED':
      return { kind: 'refused' };
    case 'ENOENT':
      return { kind: 'absent' };
    case undefined:
      return { kind: 'blocked', error: unavailable(name, errorMessage(error), error) };
    default:
      return { kind: 'dropped' };
  }
}

function classifyRefusal(error: RpcError, name: string): Failure {
  if (isDraining(error)) return { kind: 'draining' };
  const { message } = error;
  if (message.includes('is archived')) {
    return { kind: 'gone', error: archived(name, error), cause: 'its thread was archived in Codex' };
  }
  if (message.includes('no rollout found') || message.includes('invalid session id')) {
    return { kind: 'gone', error: unavailable(name, message, error), cause: 'Codex has lost its thread' };
  }
  if (message.includes('already has an active writer'))
    return { kind: 'blocked', error: elsewhere(name, error) };
  return { kind: 'blocked', error: unavailable(name, message, error) };
}

/** What an error response to `turn/start` means for the message. */
export function classifyStart(error: RpcError): StartRefusal {
  if (isDraining(error)) return 'draining';
  if (hasField(error.data, 'input_error_code', 'input_too_large')) return 'never';
  // `-32603 failed to submit turn input: ActiveTurnNotSteerable { turn_kind: Compact }` (or `Review`).
  if (/activeTurnNotSteerable/i.test(error.message)) return 'not-steerable';
  return 'not-ready';
}

function isDraining(error: RpcError): boolean {
  return hasField(error.data, 'reason', 'serverShuttingDown') || error.message.includes('Server is draining');
}

function hasField(data: unknown, field: string, value: string): boolean {
  return typeof data === 'object' && data !== null && (data as Record<string, unknown>)[field] === value;
}

function unavailable(name: string, reason: string, cause: unknown): PeerError {
  return new PeerError(
    'thread-unavailable',
    `Codex cannot load the thread of ${name}: ${reason}. No message is given to it. \`peer open ${shellWord(name)} --new\` begins a new thread.`,
    { cause },
  );
}

function archived(name: string, cause: unknown): PeerError {
  return new PeerError(
    'thread-unavailable',
    `The thread of ${name} is archived, and peer never unarchives one. Run \`codex unarchive\` to have it back, or \`peer open ${shellWord(name)} --new\` to begin a new thread.`,
    { cause },
  );
}

function elsewhere(name: string, cause: unknown): PeerError {
  return new PeerError(
    'thread-unavailable',
    `The thread of ${name} is open in a Codex that does not use the daemon, so it takes no messages. Close it there, or begin a new thread with \`peer open ${shellWord(name)} --new\`.`,
    { cause },
  );
}
