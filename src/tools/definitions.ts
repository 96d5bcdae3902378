/** One tool as its model is shown it; `inputSchema` is JSON Schema. */
export interface ToolDefinition {
  readonly name: ToolName;
  readonly description: string;
  readonly inputSchema: object;
}

export type ToolName = 'list_agents' | 'send_message' | 'ask';

const TO = {
  type: 'string',
  description: 'Its name as list_agents shows it, or its pid where several share a name.',
};
const TEXT = {
  type: 'string',
  description:
    'The whole message. The other side sees nothing of your conversation: say what it needs to know.',
};

/**
 * The peer's own tools. A thread keeps the tools it was started with (Codex 0.171.0): names and schemas stay as
 * they are, and a name that is once taken out of this list is served for ever all the same.
 */
export const TOOLS: readonly ToolDefinition[] = [
  {
    name: 'list_agents',
    description:
      'Lists the other agent sessions on this machine that you can message: name, kind, whether idle or busy, and where they work.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  },
  {
    name: 'send_message',
    description:
      'Sends a message to another agent session on this machine and returns without waiting for an answer. An answer, if one is given, comes to you later as a message of its own. Your final answer of this turn still goes to whoever began the turn; when you need the other side’s word for it, use ask instead.',
    inputSchema: {
      type: 'object',
      properties: {
        to: TO,
        text: TEXT,
        notify_when_idle: {
          type: 'boolean',
          description: 'Also tell you, with the next message you get, that it has become idle or ended.',
        },
      },
      required: ['to', 'text'],
      additionalProperties: false,
    },
  },
  {
    name: 'ask',
    description:
      'Asks another agent session on this machine and waits for its answer, which is the result. Use it when you need the answer to finish this turn. The wait ends without an answer when the other side becomes idle, ends or refuses, or when the deadline passes.',
    inputSchema: {
      type: 'object',
      properties: {
        to: TO,
        text: TEXT,
        deadline_seconds: {
          type: 'number',
          description: 'Stop waiting after so many seconds. Without it only the other side ends the wait.',
        },
      },
      required: ['to', 'text'],
      additionalProperties: false,
    },
  },
];
