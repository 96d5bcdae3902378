import { EXIT } from '../errors.ts';
import type { InboundControl, InboundMessage } from '../frames/message.ts';
import { endingOfNote, RECEIPTS } from './outcome.ts';

/** One message on its way, known before its first byte is written. */
export interface Asked {
  readonly msgId: string;
  /** Id of our `notify_when_idle`; null when none is sent. */
  readonly subscriptionId: string | null;
  /** A wrapped peer marks its answers; from any other session the first message is the answer. */
  readonly isMarked: boolean;
  readonly name: string;
  readonly socketPath: string;
}

/** How the wait for an answer ends. */
export interface AskEnding {
  readonly exitCode: number;
  /** For stdout. */
  readonly answer?: string;
  /** For stderr. */
  readonly said?: string;
}

/** The last line of a wrapped peer's answer, with its label when the text was not for this message alone. */
const ANSWER_TAG = /\n*\(answer to ([0-9A-Za-z-]{1,8})(?:, ([^\n]*))?\)\s*$/;

/** Null when the message is not about ours. */
export function endingByMessage(asked: Asked, message: InboundMessage): AskEnding | null {
  const { mark } = message;
  if (mark?.in_reply_to === asked.msgId && mark.kind === 'answer') return answered(asked, message.text);
  if (mark?.in_reply_to === asked.msgId && mark.kind === 'note') return noted(mark.outcome, message.text);
  const isAnswer = !asked.isMarked && message.from === asked.socketPath;
  return isAnswer ? { exitCode: EXIT.ok, answer: message.text } : null;
}

function answered(asked: Asked, text: string): AskEnding {
  const [tag, id, label] = ANSWER_TAG.exec(text) ?? [];
  if (tag === undefined || id === undefined || !asked.msgId.startsWith(id))
    return { exitCode: EXIT.ok, answer: text };
  const answer = text.slice(0, -tag.length);
  return label === undefined
    ? { exitCode: EXIT.ok, answer }
    : { exitCode: EXIT.ok, answer, said: `this answer was ${label}` };
}

function noted(outcome: string | undefined, text: string): AskEnding {
  const { exitCode, words } = endingOfNote(outcome);
  return { exitCode, said: `${text}\n${words}` };
}

/** Receipts end the wait unless they say that it goes on; so does the notice that the session is idle or gone. */
export function endingByControl(asked: Asked, control: InboundControl): AskEnding | null {
  if (control.action === 'peer_message_status') {
    return control.msgIds.includes(asked.msgId)
      ? endingByReceipt(asked, control.status, control.reason)
      : null;
  }
  if (control.action !== 'peer_idle_notice' || control.origMsgId !== asked.subscriptionId) return null;
  switch (control.state) {
    case 'idle': {
      const detail = control.detail ? ` Its last words: ${control.detail}` : '';
      return { exitCode: EXIT.noAnswer, said: `${asked.name} is idle again and sent no answer.${detail}` };
    }
    case 'exited':
      return gone(asked);
    case 'unavailable':
      return null;
  }
}

/** What a receipt of this status means for the message; null when it only tells that it is on its way. */
function endingByReceipt(asked: Asked, status: string, reason: string | null): AskEnding | null {
  const receipt = RECEIPTS[status];
  if (receipt === undefined) return null;
  const why = reason ? `\nIt says: ${reason}` : '';
  return {
    exitCode: receipt.exitCode,
    said: `${status} at ${asked.name} (id ${shortId(asked)}): ${receipt.words}${why}`,
  };
}

/** What people are shown of a message id. */
export function shortId(asked: Pick<Asked, 'msgId'>): string {
  return asked.msgId.slice(0, 8);
}

export function gone(asked: Asked): AskEnding {
  return {
    exitCode: EXIT.unavailable,
    said: `${asked.name} ended while its answer was awaited. Whether it acted on the message is not known.`,
  };
}
