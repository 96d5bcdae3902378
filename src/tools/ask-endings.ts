import type { ToolResult } from '../harness/harness.ts';
import type { Agent, Word } from './courier.ts';
import { done, failed, foreign, receiptSentence } from './sentences.ts';

/** What ends the wait for this word; null when the wait goes on. */
export function endingBy(word: Word, { name }: Agent, shortId: string): ToolResult | null {
  switch (word.type) {
    case 'reply':
      return word.isAnswer
        ? done(`Answer from ${name}:\n\n${word.text}`)
        : failed(`${name} gives no answer:\n\n${word.text}`);
    case 'receipt': {
      if (word.status === 'held' || word.status === 'delivered') return null;
      const question = `Your question ${shortId} to ${name}`;
      return failed(receiptSentence(question, word.status, word.reason));
    }
    case 'idle': {
      const detail = word.detail === null ? '' : ` Its last words: ${foreign(word.detail)}`;
      return failed(`${name} went idle without answering your question ${shortId}.${detail}`);
    }
    case 'gone':
      return failed(
        `${name} ended before it answered. Whether it acted on your question ${shortId} is not known.`,
      );
    case 'crossed':
      return failed(
        `${name} asked you at the same moment, so neither waits for the other. Its question is given to you after this turn; your question ${shortId} stays with ${name}, and an answer comes as a message of its own.`,
      );
  }
}

export function refusedWhileWaiting({ name }: Agent): ToolResult {
  return failed(
    `Not asked: ${name} stands still until you answer its question, so it could not answer you. Answer that first (it began this turn or comes right after it), and put into your answer what you need to know.`,
  );
}

export function tooManyQuestions(count: number): ToolResult {
  return failed(
    `Not asked: ${count} questions of yours wait for answers already. Finish one of those first.`,
  );
}

export function deadlinePassed({ name }: Agent, shortId: string, seconds: number): ToolResult {
  return failed(
    `No answer from ${name} within ${seconds} s. It has your question ${shortId}; an answer that still comes is a message of its own. Do not ask the same again.`,
  );
}

export function closing(peer: string, { name }: Agent): ToolResult {
  return failed(`${peer} is being closed, so nobody waits for ${name}'s answer any more.`);
}

/** Of a call that no model waits for: its turn was cut off, and another call goes on with the question. */
export function takenUp(): ToolResult {
  return failed('The same question was asked again, and that call goes on waiting.');
}
