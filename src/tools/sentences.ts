import type { ReceiptStatus } from '../frames/message.ts';
import type { ToolResult } from '../harness/harness.ts';
import { oneLine } from '../os/terminal.ts';

const FOREIGN_CHARS = 300;

export function done(text: string): ToolResult {
  return { text, success: true };
}

export function failed(text: string): ToolResult {
  return { text, success: false };
}

/**
 * What a receipt of the other side means for a message, and what to do.
 *
 * @param message names it, e.g. `Your message 1a2b3c4d to Luna`
 */
export function receiptSentence(message: string, status: ReceiptStatus, reason: string | null): string {
  const why = reason === null || reason.trim() === '' ? '' : ` It says: ${foreign(reason)}`;
  switch (status) {
    case 'held':
      return `${message} is held there until a person approves it. Do not send it again.`;
    case 'delivered':
      return `${message} was approved there and has been delivered.`;
    case 'denied':
      return `${message} was denied by the person there and is not delivered. Do not send it again.`;
    case 'expired':
      return `${message} was not approved there in time and is not delivered.`;
    case 'refused':
      return `${message} was refused there and is not delivered. Do not send it again.${why}`;
    case 'dropped':
      return `${message} was dropped there: treat it as unsent.${why}`;
  }
}

/** A foreign string inside a sentence of ours. */
export function foreign(text: string): string {
  return oneLine(text, FOREIGN_CHARS);
}
