import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

export type InputItem = { readonly type?: string; readonly [field: string]: unknown };

/** One `POST /v1/responses` of Codex. */
export interface ResponsesRequest {
  /** The newest thing a user said, context items of Codex left out; '' when there is none. */
  readonly text: string;
  /** Tool outputs since that text: 0 for the first request it causes, 1 after the first tool call, … */
  readonly round: number;
  readonly input: readonly InputItem[];
  readonly body: Readonly<Record<string, unknown>>;
}

/** Answers one request; `gone` aborts when Codex hangs up, as it does on a steer or an interrupt. */
export type Answerer = (request: ResponsesRequest, http: ServerResponse, gone: AbortSignal) => Promise<void>;

/** A server for OpenAI's Responses API on a free loopback port; `Codex` reaches it as its `base_url`. */
export class ResponsesServer implements AsyncDisposable {
  readonly #server: Server;
  readonly baseUrl: string;

  static async start(answer: Answerer): Promise<ResponsesServer> {
    const server = createServer((request, response) => void serve(request, response, answer));
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(0, '127.0.0.1', resolve),
    );
    return new ResponsesServer(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    this.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

async function serve(request: IncomingMessage, response: ServerResponse, answer: Answerer): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    const posted = request.method === 'POST' && request.url?.endsWith('/responses');
    if (!posted) return void response.writeHead(404).end('{}');
    await answer(parseRequest(await readText(request)), response, gone.signal);
  } catch (error) {
    if (gone.signal.aborted) return;
    if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: String(error), type: 'server_error' } }));
  }
}

function parseRequest(json: string): ResponsesRequest {
  const body = JSON.parse(json) as Record<string, unknown>;
  const input = Array.isArray(body.input) ? (body.input as InputItem[]) : [];
  const last = input.findLastIndex(isUserText);
  const outputs = input.slice(last + 1).filter((item) => item.type?.endsWith('_output'));
  return { text: textOf(input[last]), round: outputs.length, input, body };
}

/** What Codex 0.171.0 adds in the user's role; a recovery prompt (`<codex_internal_context …>`) is not among it. */
const context =
  /^\s*(<environment_context>|<user_instructions>|# AGENTS\.md|<permissions|<turn_aborted>|<skills|<[a-z_]+_instructions)/;

function isUserText(item: InputItem): boolean {
  return item.type === 'message' && item.role === 'user' && !context.test(textOf(item));
}

function textOf(item: InputItem | undefined): string {
  const parts = Array.isArray(item?.content) ? (item.content as { text?: string }[]) : [];
  return parts.map((part) => part.text ?? '').join('');
}
