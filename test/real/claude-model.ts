import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Arrivals } from './arrivals.ts';
import {
  lastUserText,
  lastUserTextIndex,
  type Message,
  stepFor,
  type ToolResult,
  textsOf,
  toolResultsOf,
} from './claude-request.ts';
import { parseSteps, type Step } from './claude-script.ts';
import { sendAnswer, sendCutStream, sendError, sendPlanLimit } from './claude-stream.ts';
import { Hold } from './hold.ts';
import type { Owned } from './temp.ts';

/** One `POST /v1/messages` of a session. */
export interface ModelRequest {
  /** Position in `requests`. */
  readonly index: number;
  readonly atMs: number;
  /** Header `x-claude-code-session-id`: the `sessionId` of the row. */
  readonly sessionId: string;
  readonly model: string;
  /** Tool names offered directly (deferred ones are not in the list). */
  readonly tools: readonly string[];
  readonly messages: readonly Message[];
}

interface Rule {
  readonly pattern: RegExp;
  readonly steps: readonly Step[];
  readonly times: number;
  /** Sessions' texts this rule was used for; a script of several steps counts once. */
  readonly used: Set<string>;
}

/**
 * A scripted Anthropic Messages server on loopback, for real Claude Code. What it answers is decided by, in this
 * order: a rule of `on`, the directives in the newest user text (see `parseSteps`), else `ok: <its beginning>`.
 */
export class ClaudeModel implements Owned {
  readonly #server: Server;
  readonly #requests = new Arrivals<ModelRequest>((request) => lastUserText(request.messages).slice(0, 500));
  readonly #rules: Rule[] = [];
  readonly #holds = new Map<string, Hold>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => this.#onRequest(request, response));
  }

  static async start(): Promise<ClaudeModel> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new ClaudeModel(server);
  }

  /** For `ANTHROPIC_BASE_URL`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get requests(): readonly ModelRequest[] {
    return this.#requests.all;
  }

  /** Scripts every newest user text that matches, or the first `times` of them. The newest rule wins. */
  on(pattern: RegExp, steps: string | readonly Step[], times = Number.POSITIVE_INFINITY): void {
    const parsed = typeof steps === 'string' ? parseSteps(steps) : steps;
    this.#rules.unshift({ pattern, steps: parsed, times, used: new Set() });
  }

  /** Lets answers that wait with `@@hold <key>` go, those to come included. */
  release(key: string): void {
    this.#hold(key).release();
  }

  /** Resolves when an answer waits with `@@hold <key>`. */
  async waitForHeld(key: string, timeoutMs = 10_000): Promise<void> {
    const late = sleep(timeoutMs, 'late', { ref: false });
    if ((await Promise.race([this.#hold(key).reached, late])) !== 'late') return;
    throw new Error(`no answer waits for ${key}; requests:\n${this.evidence()}`);
  }

  /** The first request, past or coming, that matches; those before `requests[from]` are passed over. */
  waitForRequest(
    matches: (request: ModelRequest) => boolean,
    timeoutMs = 10_000,
    from = 0,
  ): Promise<ModelRequest> {
    return this.#requests.wait(matches, 'the model request', timeoutMs, from);
  }

  /** The first request one of whose user or system texts holds `part`. */
  waitForText(part: string | RegExp, timeoutMs = 10_000, from = 0): Promise<ModelRequest> {
    const holds = (text: string) => (typeof part === 'string' ? text.includes(part) : part.test(text));
    return this.waitForRequest((request) => textsOf(request.messages).some(holds), timeoutMs, from);
  }

  /** All user and system texts the model was shown, in order, tool results left out. */
  textsOf(request: ModelRequest): string[] {
    return textsOf(request.messages);
  }

  /** The finished tool calls of a session's newest request, in order. */
  toolResults(sessionId: string): ToolResult[] {
    const newest = this.requests.findLast((request) => request.sessionId === sessionId);
    return newest ? toolResultsOf(newest.messages) : [];
  }

  /** The newest user text of every request, for a failing test. */
  evidence(): string {
    return this.#requests.describe();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await readText(request);
      const path = new URL(request.url ?? '/', this.url).pathname;
      if (path === '/v1/messages') await this.#onMessages(request, body, response);
      else if (path === '/v1/messages/count_tokens') response.end('{"input_tokens":10}');
      else if (request.method === 'HEAD') response.end();
      else sendError(response, 404);
    } catch (error) {
      if (response.headersSent || response.destroyed) response.destroy();
      else sendError(response, 400, undefined, `scripted model: ${error}`);
    }
  }

  async #onMessages(request: IncomingMessage, text: string, response: ServerResponse): Promise<void> {
    const body = JSON.parse(text) as {
      model: string;
      stream?: boolean;
      messages: Message[];
      tools?: { name: string }[];
    };
    const recorded: ModelRequest = {
      index: this.requests.length,
      atMs: Date.now(),
      sessionId: String(request.headers['x-claude-code-session-id'] ?? ''),
      model: body.model,
      tools: (body.tools ?? []).map((tool) => tool.name),
      messages: body.messages,
    };
    const step = this.#stepFor(recorded);
    this.#requests.add(recorded);
    await perform(step, {
      response,
      model: body.model,
      stream: body.stream === true,
      holdOf: (key) => this.#hold(key),
    });
  }

  #stepFor(request: ModelRequest): Step {
    const { messages, sessionId } = request;
    const text = lastUserText(messages);
    const asked = `${sessionId} ${lastUserTextIndex(messages)} ${text}`;
    const rule = this.#rules.find(
      (each) => each.pattern.test(text) && (each.used.size < each.times || each.used.has(asked)),
    );
    rule?.used.add(asked);
    return stepFor(messages, rule?.steps ?? parseSteps(text));
  }

  #hold(key: string): Hold {
    const existing = this.#holds.get(key);
    if (existing) return existing;
    const hold = new Hold();
    this.#holds.set(key, hold);
    return hold;
  }
}

interface Exchange {
  readonly response: ServerResponse;
  readonly model: string;
  readonly stream: boolean;
  readonly holdOf: (key: string) => Hold;
}

async function perform(step: Step, exchange: Exchange): Promise<void> {
  const { response, model, stream, holdOf } = exchange;
  switch (step.kind) {
    case 'say':
    case 'tools':
      return sendAnswer(response, model, stream, step);
    case 'error':
      return sendError(response, step.status, step.type, step.message);
    case 'limit':
      return sendPlanLimit(response);
    case 'cut':
      return sendCutStream(response, model);
    case 'hang':
      return;
    case 'delay':
      await sleep(step.delayMs, undefined, { signal: hangUpOf(response) });
      return perform(step.step, exchange);
    case 'hold':
      await holdOf(step.key).pass(hangUpOf(response));
      return perform(step.step, exchange);
  }
}

function hangUpOf(response: ServerResponse): AbortSignal {
  const hangUp = new AbortController();
  response.once('close', () => hangUp.abort());
  return hangUp.signal;
}
