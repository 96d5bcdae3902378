import type { Step } from './claude-script.ts';

/** A message of a Messages request. Claude Code 2.1.332 also puts role `system` among them. */
export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly Block[];
}

export interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
  readonly content?: string | readonly Block[];
}

/** A tool call with what the model was told it returned. */
export interface ToolResult {
  readonly name: string;
  readonly input: unknown;
  readonly text: string;
  readonly isError: boolean;
}

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g;

/** All user and system texts in order; tool results left out. */
export function textsOf(messages: readonly Message[]): string[] {
  return messages.filter((message) => message.role !== 'assistant').flatMap(textsOfMessage);
}

/**
 * The newest text block of the user messages, Claude's own reminders left out; `''` without one. After a turn that
 * failed, the next text is a further block of the same message (2.1.332), so a message is not the unit.
 */
export function lastUserText(messages: readonly Message[]): string {
  const message = messages[lastUserTextIndex(messages)];
  return message ? (userTexts(message).at(-1) ?? '') : '';
}

/** The step due now: the first one for the newest user text, the next after each answer to it. */
export function stepFor(messages: readonly Message[], steps: readonly Step[]): Step {
  const answered = messages
    .slice(lastUserTextIndex(messages) + 1)
    .filter(({ role }) => role === 'assistant').length;
  const step = steps[answered];
  if (step) return step;
  const text = lastUserText(messages).trim();
  return { kind: 'say', text: steps.length > 0 ? 'script over' : `ok: ${text.slice(0, 60)}` };
}

/** Every finished tool call, in order. */
export function toolResultsOf(messages: readonly Message[]): ToolResult[] {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const calls = new Map(blocks.filter(({ type }) => type === 'tool_use').map((block) => [block.id, block]));
  return blocks.flatMap((block) => {
    const call = block.type === 'tool_result' ? calls.get(block.tool_use_id) : undefined;
    if (!call) return [];
    const text = textsOfMessage({ content: block.content ?? '' }).join('\n');
    return [{ name: call.name ?? '', input: call.input, text, isError: block.is_error === true }];
  });
}

/** Where the message with `lastUserText` stands; -1 without one. */
export function lastUserTextIndex(messages: readonly Message[]): number {
  return messages.findLastIndex((message) => message.role === 'user' && userTexts(message).length > 0);
}

function userTexts(message: Message): string[] {
  const texts = textsOfMessage(message).map((text) => text.replace(REMINDER, ''));
  return texts.filter((text) => text.trim() !== '');
}

function textsOfMessage({ content }: Pick<Message, 'content'>): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  return content.flatMap((block) => (block.type === 'text' && block.text !== undefined ? [block.text] : []));
}
