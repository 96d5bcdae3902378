import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

let count = 0;

/** What tells two model requests apart for Codex: item and response ids must be new in every response. */
type OutputItem = Record<string, unknown>;

/**
 * Writes one answer of OpenAI's Responses API as server-sent events, with the events that Codex 0.171.0
 * needs and no more. A stream whose reader has gone swallows what is written to it.
 */
export class ResponseStream {
  readonly #http: ServerResponse;
  readonly #model: string;
  readonly #number = ++count;
  readonly #output: OutputItem[] = [];
  #sequence = 0;

  /** Sends the head and `response.created` at once. */
  constructor(http: ServerResponse, model: string) {
    this.#http = http;
    this.#model = model;
    http.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    this.#send('response.created', { response: this.#response('in_progress') });
  }

  /** One assistant message, word by word. `phase` is Codex's `commentary` or `final_answer`; absent is none. */
  async message(text: string, options: { phase?: string; chunkMs?: number; signal?: AbortSignal } = {}) {
    const id = this.newId('msg');
    const place = { item_id: id, output_index: this.#output.length, content_index: 0 };
    const head = { type: 'message', id, role: 'assistant', ...(options.phase && { phase: options.phase }) };
    this.#added({ ...head, status: 'in_progress', content: [] });
    this.#send('response.content_part.added', {
      ...place,
      part: { type: 'output_text', text: '', annotations: [] },
    });
    for (const delta of text.match(/\S+\s*|\s+/g) ?? ['']) {
      this.#send('response.output_text.delta', { ...place, delta });
      if (options.chunkMs) await sleep(options.chunkMs, undefined, { signal: options.signal });
    }
    this.#send('response.output_text.done', { ...place, text });
    this.#done({ ...head, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] });
  }

  /** One finished output item of any other type (`function_call`, `reasoning`, …), `id` included. */
  item(item: OutputItem): void {
    this.#added({ ...item, status: 'in_progress' });
    this.#done(item);
  }

  /** An id that no other response of this process uses, e.g. `msg_12_0`. */
  newId(prefix: string): string {
    return `${prefix}_${this.#number}_${this.#output.length}`;
  }

  completed(): void {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 110,
    };
    this.#send('response.completed', { response: { ...this.#response('completed'), usage } });
    this.end();
  }

  failed(error: { code: string; message: string }): void {
    this.#send('response.failed', { response: { ...this.#response('failed'), error } });
    this.end();
  }

  /** Ends the stream; without `completed` before it Codex takes the answer for cut off. */
  end(): void {
    this.#http.end();
  }

  #added(item: OutputItem): void {
    this.#send('response.output_item.added', { output_index: this.#output.length, item });
  }

  #done(item: OutputItem): void {
    this.#send('response.output_item.done', { output_index: this.#output.length, item });
    this.#output.push(item);
  }

  #response(status: string): OutputItem {
    return {
      id: `resp_${this.#number}`,
      object: 'response',
      status,
      model: this.#model,
      output: this.#output,
    };
  }

  #send(type: string, fields: OutputItem): void {
    if (this.#http.destroyed || this.#http.writableEnded) return;
    const data = JSON.stringify({ type, sequence_number: this.#sequence++, ...fields });
    this.#http.write(`event: ${type}\ndata: ${data}\n\n`);
  }
}
