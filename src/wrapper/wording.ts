import { PeerError } from '../errors.ts';
import type { Outcome } from '../store/record.ts';

/** What the sender is told: one answer or one note. */
export interface Reply {
  readonly kind: 'answer' | 'note';
  /** The word for `peerwire.outcome`, from the one table of states (docs/states.md). */
  readonly outcome: string;
  readonly text: string;
}

/**
 * The text of the one reply to a message.
 *
 * The first line of an answer is content, since Claude's screen shows only that; its last line names the message, so
 * that equal answers differ in bytes (Claude Code 2.1.332 drops the second of two equal contents within 30 s).
 *
 * @param id first characters of the sender's message id
 * @param name the peer that answers
 */
export function reply(outcome: Outcome, id: string, name: string): Reply {
  if (outcome.state === 'answered') {
    const together = {
      message: ', given together with a later message',
      typed: `, given together with a line typed at ${name}'s terminal`,
    };
    const label = outcome.together === null ? '' : together[outcome.together];
    return { kind: 'answer', outcome: 'answered', text: `${outcome.text}\n\n(answer to ${id}${label})` };
  }
  const note = explain(outcome, name);
  return { kind: 'note', outcome: outcome.state, text: `[no answer to ${id}: ${note.word}] ${note.text}` };
}

/** An earlier process ended while it wrote the reply: it may have arrived, so it is not written again. */
export function halfTold(outcome: Outcome, id: string, name: string): Reply {
  const what = outcome.state === 'answered' ? 'An answer' : 'A note';
  const text = `${what} to your message was being written when ${name}'s process ended; it may have reached you, and is not written again.`;
  return { kind: 'note', outcome: outcome.state, text: `[no answer to ${id}: maybe-written] ${text}` };
}

/** For a message that was not received: the queue was full, or it could not be recorded. */
export function turnedAway(error: unknown, id: string, name: string): Reply {
  const isFull = error instanceof PeerError && error.word === 'refused';
  const word = isFull ? 'queue-full' : 'store';
  const why = isFull
    ? `${name} takes no more messages now (${error.message}).`
    : `${name} cannot record messages just now, so yours was not taken.`;
  return {
    kind: 'note',
    outcome: 'refused',
    text: `[no answer to ${id}: ${word}] ${why} Send it again later.`,
  };
}

interface Note {
  readonly word: string;
  readonly text: string;
}

function explain(outcome: Exclude<Outcome, { state: 'answered' }>, name: string): Note {
  switch (outcome.state) {
    case 'no-answer':
      return { word: outcome.reason, text: withPartial(noAnswer(outcome, name), outcome.partial) };
    case 'not-taken':
      return outcome.reason === 'closed'
        ? {
            word: 'closed',
            text: `${name} was closed before it was given your message. It is safe to send again.`,
          }
        : {
            word: 'not-taken',
            text: `${name}'s turn ended before it was given your message. It is safe to send again.`,
          };
    case 'refused':
      return { word: outcome.reason, text: refused(outcome, name) };
    case 'expired':
      return {
        word: 'expired',
        text: `Your message waited too long while ${name} was gone, and was not given to it. It is safe to send again.`,
      };
    case 'unknown':
      return {
        word: 'unknown',
        text: `Whether ${name} was given your message cannot be told: the connection to Codex broke, or ${name} was closed, before its thread showed it. It may have been acted on; look before you send it again.`,
      };
  }
}

function noAnswer(outcome: Outcome & { state: 'no-answer' }, name: string): string {
  switch (outcome.reason) {
    case 'interrupted':
      return `${name}'s turn was interrupted before it gave an answer.`;
    case 'failed':
      return `${name}'s turn failed. Codex says: ${outcome.detail}`;
    case 'usage-limit':
      return `${name} has reached its usage limit. Codex says: ${outcome.detail}`;
    case 'no-final':
      return `${name}'s turn ended without a final answer.`;
    case 'reverted':
      return `Your message was taken back out of ${name}'s conversation at its terminal.`;
    case 'closed':
      return `${name} was closed while it worked on your message; its thread may still finish the turn, but the answer is not sent.`;
  }
}

function refused(outcome: Outcome & { state: 'refused' }, name: string): string {
  switch (outcome.reason) {
    case 'size':
      return `Your message is too long for ${name}. Codex says: ${outcome.detail}. Send a shorter one, or the path of a file.`;
    case 'queue-full':
      return `${name} takes no more messages now (${outcome.detail}). Send it again later.`;
    case 'replaced':
      return `${name} has another conversation now, and your message was for the one before. It is safe to send again.`;
    case 'harness':
      return `Codex refused your message each time. It says: ${outcome.detail}`;
  }
}

function withPartial(text: string, partial: string): string {
  return partial === '' ? text : `${text}\n\nPartial, what it had written so far:\n${partial}`;
}
