import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Step } from './claude-script.ts';

type Answer = Extract<Step, { kind: 'say' | 'tools' }>;
type Block = { type: 'text'; text: string } | { type: 'tool_use'; id: string; name: string; input: unknown };

const USAGE = {
  input_tokens: 10,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 10,
};

const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** A Messages API error answer; the header keeps Claude Code from asking again for minutes. */
export function sendError(response: ServerResponse, status: number, type?: string, message?: string): void {
  const error = {
    type: type ?? ERROR_TYPES[status] ?? 'api_error',
    message: message ?? `scripted ${status}`,
  };
  response.setHeader('x-should-retry', 'false');
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_scripted' });
  response.end(JSON.stringify({ type: 'error', error, request_id: 'req_scripted' }));
}

/** A 429 with the headers that Claude Code reads as "the plan's limit is used up" and does not retry. */
export function sendPlanLimit(response: ServerResponse): void {
  response.setHeader('retry-after', '3600');
  response.setHeader('anthropic-ratelimit-unified-status', 'rejected');
  response.setHeader('anthropic-ratelimit-unified-reset', String(Math.floor(Date.now() / 1000) + 3600));
  response.setHeader('anthropic-ratelimit-unified-representative-claim', 'five_hour');
  response.setHeader('anthropic-ratelimit-unified-overage-status', 'rejected');
  sendError(response, 429, 'rate_limit_error', "This request would exceed your account's rate limit.");
}

/** One model answer, as server-sent events when the request asked for a stream. */
export async function sendAnswer(
  response: ServerResponse,
  model: string,
  stream: boolean,
  step: Answer,
): Promise<void> {
  const content = blocksOf(step);
  const stopReason = step.kind === 'tools' ? 'tool_use' : 'end_turn';
  const message = {
    id: `msg_${randomBytes(10).toString('hex')}`,
    type: 'message',
    role: 'assistant',
    model,
    usage: USAGE,
  };
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json', 'request-id': 'req_scripted' });
    response.end(JSON.stringify({ ...message, content, stop_reason: stopReason, stop_sequence: null }));
    return;
  }
  beginStream(response, message);
  for (const [index, block] of content.entries()) {
    await sendBlock(response, index, block, step.kind === 'say' ? (step.overMs ?? 0) : 0);
  }
  sendEvent(response, 'message_delta', {
    delta: { stop_reason: stopReason, stop_sequence: null },
    usage: { output_tokens: 10 },
  });
  sendEvent(response, 'message_stop', {});
  response.end();
}

/** A stream that breaks off after its first event. */
export async function sendCutStream(response: ServerResponse, model: string): Promise<void> {
  beginStream(response, { id: 'msg_cut', type: 'message', role: 'assistant', model, usage: USAGE });
  await sleep(50);
  response.destroy();
}

function blocksOf(step: Answer): Block[] {
  if (step.kind === 'say') return [{ type: 'text', text: step.text }];
  return step.calls.map(({ name, input }) => {
    return { type: 'tool_use', id: `toolu_${randomBytes(10).toString('hex')}`, name, input };
  });
}

function beginStream(response: ServerResponse, message: object): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'request-id': 'req_scripted',
  });
  sendEvent(response, 'message_start', {
    message: { ...message, content: [], stop_reason: null, stop_sequence: null },
  });
}

async function sendBlock(
  response: ServerResponse,
  index: number,
  block: Block,
  overMs: number,
): Promise<void> {
  if (block.type === 'text') {
    sendEvent(response, 'content_block_start', { index, content_block: { type: 'text', text: '' } });
    const words = overMs > 0 ? block.text.split(/(?<= )/) : [block.text];
    for (const text of words) {
      if (response.destroyed) return;
      sendEvent(response, 'content_block_delta', { index, delta: { type: 'text_delta', text } });
      if (overMs > 0) await sleep(overMs / words.length);
    }
  } else {
    sendEvent(response, 'content_block_start', { index, content_block: { ...block, input: {} } });
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
    sendEvent(response, 'content_block_delta', { index, delta });
  }
  sendEvent(response, 'content_block_stop', { index });
}

function sendEvent(response: ServerResponse, type: string, fields: object): void {
  response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
}
