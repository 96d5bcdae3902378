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

/** All user and system texts in order; tool results left out. */
export function textsOf(messages: readonly Message[]): string[] {
  return messages.filter((message) => message.role !== 'assistant').flatMap(textsOfMessage);
}

/** The newest text a user message holds, Claude's own reminders taken out; `''` without one. */
export function lastUserText(messages: readonly Message[]): string {
  const index = lastUserTextIndex(messages);
  const message = messages[index];
  return message ? userText(message) : '';
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
  return messages.findLastIndex((message) => message.role === 'user' && userText(message).trim() !== '');
}

function userText(message: Message): string {
  return textsOfMessage(message)
    .join('\n')
    .replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '');
}

function textsOfMessage({ content }: Pick<Message, 'content'>): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  return content.flatMap((block) => (block.type === 'text' && block.text !== undefined ? [block.text] : []));
}
