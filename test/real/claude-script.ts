/** What the scripted model does in answer to one request. */
export type Step =
  | { readonly kind: 'say'; readonly text: string; readonly overMs?: number }
  | { readonly kind: 'tools'; readonly calls: readonly ToolCall[] }
  | { readonly kind: 'error'; readonly status: number; readonly type?: string; readonly message?: string }
  | { readonly kind: 'limit' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'delay'; readonly delayMs: number; readonly step: Step }
  | { readonly kind: 'hold'; readonly key: string; readonly step: Step };

export interface ToolCall {
  readonly name: string;
  readonly input: Record<string, unknown>;
}

const DIRECTIVE = /@@(?=(?:say|tools?|delay|slow|err|limit|hang|cut|hold)\b)/;

/** Everything after the closing tag of a peer's message is Claude's own advice to the model, not script. */
const AFTER_ENVELOPE = /\n<\/cross-session-message>[\s\S]*$/;

/**
 * The steps a text asks for, one per model request; empty when it holds no directive.
 *
 *     @@say <text>                  the final text
 *     @@slow <ms> <text>            the same, streamed word by word
 *     @@tool <Name> <json>          one tool call (`@~` inside the JSON reaches its reader as `@@`)
 *     @@tools [["Name", {…}], …]    several in one answer
 *     @@delay <ms> <step or text>   wait, then the step
 *     @@hold <key> <step or text>   wait for `model.release(key)`, then the step
 *     @@err <status> [type] [text]  an HTTP error      @@limit  a used-up plan
 *     @@hang                        never answers      @@cut    drops the connection mid-stream
 */
export function parseSteps(text: string): Step[] {
  const parts = text.replace(AFTER_ENVELOPE, '').split(DIRECTIVE);
  return parts.slice(1).map((part) => parseStep(part.trim()));
}

function parseStep(source: string): Step {
  const [, word = '', rest = ''] = /^(\w+)\s*([\s\S]*)$/.exec(source) ?? [];
  const [, first = '', after = ''] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? [];
  switch (word) {
    case 'say':
      return { kind: 'say', text: rest };
    case 'slow':
      return { kind: 'say', text: after || 'a slow answer in several words', overMs: Number(first) };
    case 'tool':
      return { kind: 'tools', calls: [{ name: first, input: parseInput(after) }] };
    case 'tools':
      return { kind: 'tools', calls: parseCalls(rest) };
    case 'delay':
      return { kind: 'delay', delayMs: Number(first), step: parseStep(after || 'say delayed') };
    case 'hold':
      return { kind: 'hold', key: first, step: parseStep(after || 'say released') };
    case 'err':
      return parseError(first, after);
    case 'limit':
    case 'hang':
    case 'cut':
      return { kind: word };
    default:
      return { kind: 'say', text: source };
  }
}

function parseInput(json: string): Record<string, unknown> {
  return JSON.parse(json.replaceAll('@~', '@@')) as Record<string, unknown>;
}

function parseCalls(json: string): ToolCall[] {
  const pairs = JSON.parse(json.replaceAll('@~', '@@')) as [string, Record<string, unknown>][];
  return pairs.map(([name, input]) => ({ name, input }));
}

function parseError(status: string, rest: string): Step {
  const [, type = '', message = ''] = /^(\w+_error)?\s*([\s\S]*)$/.exec(rest) ?? [];
  return { kind: 'error', status: Number(status), ...(type && { type }), ...(message && { message }) };
}
