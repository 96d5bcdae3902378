import { EXIT } from '../errors.ts';

/** How `ask` ends for an outcome word, and what a person is told beside the note itself. */
export interface Ending {
  readonly exitCode: number;
  readonly words: string;
}

/** The outcome column of docs/states.md. */
export const OUTCOMES: Readonly<Record<string, Ending>> = {
  answered: { exitCode: EXIT.ok, words: 'answered' },
  'no-answer': { exitCode: EXIT.noAnswer, words: 'no answer' },
  'not-taken': { exitCode: EXIT.noAnswer, words: 'not taken: safe to send again' },
  refused: { exitCode: EXIT.refused, words: 'refused' },
  unknown: { exitCode: EXIT.unknownOutcome, words: 'unknown: sending it again may double it' },
  expired: { exitCode: EXIT.noAnswer, words: 'expired before it was taken: safe to send again' },
  canceled: { exitCode: EXIT.noAnswer, words: 'canceled' },
};

/** The delivery words of docs/states.md that end the wait. `delivered` does not. */
export const RECEIPTS: Readonly<Record<string, Ending>> = {
  held: { exitCode: EXIT.held, words: 'its person must approve the message there first' },
  denied: { exitCode: EXIT.refused, words: 'its person said no' },
  refused: { exitCode: EXIT.refused, words: 'it does not take this message' },
  expired: { exitCode: EXIT.refused, words: 'its person did not approve it in time' },
  dropped: { exitCode: EXIT.refused, words: 'it was thrown away unread' },
};

/** The ending for the outcome word of a note; a word we do not know is a reason for no answer. */
export function endingOfNote(outcome: string | undefined): Ending {
  return OUTCOMES[outcome ?? 'no-answer'] ?? { exitCode: EXIT.noAnswer, words: `no answer: ${outcome}` };
}
