import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ResponseStream } from '../../src/demo/response-stream.ts';
import { type ResponsesRequest, ResponsesServer } from '../../src/demo/responses-server.ts';
import { Arrivals } from './arrivals.ts';
import { Hold } from './hold.ts';
import { final, type Rounds, type Step, scriptAtEnd } from './model-script.ts';

/** A request of Codex to its model, with what became of it. */
export interface ModelRequest extends ResponsesRequest {
  readonly steps: readonly Step[];
  /** `hung-up`: Codex closed the connection first (steer, interrupt, death). */
  end: 'running' | 'answered' | 'hung-up';
}

type Rule = { match: RegExp; rounds: Rounds | ((request: ResponsesRequest) => Rounds) };

/**
 * A scripted model for the real Codex. What it does with a request is decided by the script at the end of the
 * last user text, else by the newest matching rule, else it answers `echo: <text>`. After the last round it
 * answers `done (<last tool output>)`.
 */
export class CodexModel implements AsyncDisposable {
  readonly #arrivals = new Arrivals<ModelRequest>((request) => `${request.end} ${brief(request.text)}`);
  readonly #rules: Rule[] = [];
  readonly #holds = new Map<string, Hold>();
  #server!: ResponsesServer;

  static async start(): Promise<CodexModel> {
    const model = new CodexModel();
    model.#server = await ResponsesServer.start((request, http, gone) => model.#answer(request, http, gone));
    return model;
  }

  get baseUrl(): string {
    return this.#server.baseUrl;
  }

  /** Every request so far, oldest first. */
  get requests(): readonly ModelRequest[] {
    return this.#arrivals.all;
  }

  /** Answers texts that match; a rule set later comes before one set earlier. */
  on(match: RegExp, rounds: Rule['rounds']): void {
    this.#rules.unshift({ match, rounds });
  }

  /** Lets every `hold` with this key go on, the coming ones too. */
  release(key: string): void {
    this.#hold(key).release();
  }

  /** Resolves when a request stands at this hold. */
  held(key: string): Promise<void> {
    return this.#hold(key).reached;
  }

  /** The first request that matches, past ones included; rejects with all that came after `timeoutMs`. */
  waitForRequest(
    match: RegExp | ((request: ModelRequest) => boolean),
    timeoutMs = 15_000,
  ): Promise<ModelRequest> {
    const matches = match instanceof RegExp ? (request: ModelRequest) => match.test(request.text) : match;
    return this.#arrivals.wait(matches, `a model request (${match})`, timeoutMs);
  }

  /** For a failing test: one line per request. */
  evidence(): string {
    return this.#arrivals.describe();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const hold of this.#holds.values()) hold.release();
    await this.#server[Symbol.asyncDispose]();
  }

  async #answer(request: ResponsesRequest, http: ServerResponse, gone: AbortSignal): Promise<void> {
    const steps = this.#stepsFor(request);
    const record: ModelRequest = { ...request, steps, end: 'running' };
    this.#arrivals.add(record);
    http.once('close', () => {
      record.end = http.writableFinished ? 'answered' : 'hung-up';
    });
    const refusal = steps.find((step) => 'status' in step);
    if (refusal) {
      for (const step of steps) await this.#wait(step, gone);
      return sendStatus(http, refusal);
    }
    const stream = new ResponseStream(http, String(request.body.model));
    for (const step of steps) {
      if (await this.#perform(step, stream, http, gone)) return;
    }
    stream.completed();
  }

  #stepsFor(request: ResponsesRequest): readonly Step[] {
    const rounds = scriptAtEnd(request.text) ?? this.#ruleFor(request);
    if (!rounds) return [final(`echo: ${request.text.slice(0, 4_000)}`)];
    return rounds[request.round] ?? [final(`done (${lastOutput(request)})`)];
  }

  #ruleFor(request: ResponsesRequest): Rounds | null {
    const rule = this.#rules.find(({ match }) => match.test(request.text));
    if (!rule) return null;
    return typeof rule.rounds === 'function' ? rule.rounds(request) : rule.rounds;
  }

  /** Resolves to true when the step has ended the stream. */
  async #perform(
    step: Step,
    stream: ResponseStream,
    http: ServerResponse,
    gone: AbortSignal,
  ): Promise<boolean> {
    if ('text' in step) await stream.message(step.text, { ...step, signal: gone });
    else if ('reasoning' in step) stream.item(reasoning(stream.newId('rs'), step.reasoning));
    else if ('call' in step) stream.item(functionCall(stream.newId('call'), step));
    else if ('failed' in step) stream.failed(step.failed);
    else if ('end' in step) stream.end();
    else if ('cut' in step) await cut(http);
    else await this.#wait(step, gone);
    return 'failed' in step || 'end' in step || 'cut' in step;
  }

  async #wait(step: Step, gone: AbortSignal): Promise<void> {
    if ('delayMs' in step) await sleep(step.delayMs, undefined, { signal: gone });
    else if ('hold' in step) await this.#hold(step.hold).pass(gone);
    else if (!('status' in step))
      throw new Error(`unknown step or not before a status: ${JSON.stringify(step)}`);
  }

  #hold(key: string): Hold {
    const hold = this.#holds.get(key) ?? new Hold();
    this.#holds.set(key, hold);
    return hold;
  }
}

function reasoning(id: string, text: string) {
  return { type: 'reasoning', id, summary: [{ type: 'summary_text', text }], encrypted_content: 'x' };
}

function functionCall(callId: string, step: Extract<Step, { call: string }>) {
  const { call: name, namespace, args = {} } = step;
  const call = { call_id: callId, name, arguments: JSON.stringify(args), ...(namespace && { namespace }) };
  return { type: 'function_call', id: `fc_${callId}`, ...call, status: 'completed' };
}

function sendStatus(http: ServerResponse, step: Extract<Step, { status: number }>): void {
  const body = step.body ?? { error: { message: `scripted ${step.status}`, type: 'server_error' } };
  http
    .writeHead(step.status, { 'content-type': 'application/json', ...step.headers })
    .end(JSON.stringify(body));
}

/** The pause lets what was streamed before reach Codex, which a reset would throw away. */
async function cut(http: ServerResponse): Promise<void> {
  await sleep(60);
  http.destroy();
}

function lastOutput(request: ResponsesRequest): string {
  return JSON.stringify(request.input.at(-1)?.output ?? '').slice(0, 300);
}

function brief(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 100)} … ${text.slice(-100)}` : text);
}
