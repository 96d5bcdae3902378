import { readlinkSync } from 'node:fs';
import { WebSocket } from 'ws';
import { Arrivals } from './arrivals.ts';

// biome-ignore lint/suspicious/noExplicitAny: frames of a foreign program, looked into only by assertions
export type Loose = any;

export interface Frame {
  id?: number | string;
  method?: string;
  params?: Loose;
  result?: Loose;
  error?: { code: number; message: string; data?: Loose };
}

type Match = string | ((frame: Frame) => boolean);

/** An error response of the app-server. */
class ResponseError extends Error {
  readonly code: number;
  readonly data: Loose;
  constructor(method: string, error: NonNullable<Frame['error']>) {
    super(`${method}: ${error.message}`);
    this.code = error.code;
    this.data = error.data;
  }
}

/** A second client of the app-server for tests: sends anything, keeps every frame, answers nothing by itself. */
export class RawClient implements AsyncDisposable {
  readonly #socket: WebSocket;
  readonly #frames = new Arrivals<Frame>((frame) => JSON.stringify(frame).slice(0, 300));
  readonly #pending = new Map<number, { method: string; settle: (frame: Frame | null) => void }>();
  readonly closed: Promise<void>;
  #lastId = 0;

  /** Connects and initializes; rejects when nobody listens. Socket paths may be symlinks, as Codex makes them. */
  static async connect(socketPath: string, clientName = 'raw-client'): Promise<RawClient> {
    const socket = new WebSocket(`ws+unix://${target(socketPath)}:/`, { perMessageDeflate: false });
    await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const client = new RawClient(socket);
    const capabilities = { experimentalApi: true, requestAttestation: false };
    const clientInfo = { name: clientName, title: null, version: '0.0.0' };
    await client.call('initialize', { clientInfo, capabilities });
    client.send({ method: 'initialized' });
    return client;
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    void this.closed.then(() => this.#settleAll());
    socket.on('error', () => {});
    socket.on('message', (data) => this.#receive(JSON.parse(String(data)) as Frame));
  }

  /** Every frame received so far, in order. */
  get frames(): readonly Frame[] {
    return this.#frames.all;
  }

  call(method: string, params: object = {}): Promise<Loose> {
    const id = ++this.#lastId;
    const answer = new Promise<Loose>((resolve, reject) => {
      const settle = (frame: Frame | null): void => {
        if (!frame) reject(new Error(`${method}: the connection closed first`));
        else if (frame.error) reject(new ResponseError(method, frame.error));
        else resolve(frame.result);
      };
      this.#pending.set(id, { method, settle });
    });
    answer.catch(() => {});
    this.send({ id, method, params });
    return answer;
  }

  send(frame: Frame): void {
    this.#socket.send(JSON.stringify(frame));
  }

  /** Answers a request of the server, e.g. an `item/tool/call`. */
  reply(request: Frame, result: object): void {
    this.send({ id: request.id!, result });
  }

  /** A mark for `wait`: only frames that come after it count. */
  get mark(): number {
    return this.#frames.all.length;
  }

  /** The first notification or request that matches (a string is its method), from `from` on. */
  wait(match: Match, { from = 0, timeoutMs = 15_000 } = {}): Promise<Frame> {
    const matches = typeof match === 'string' ? (frame: Frame) => frame.method === match : match;
    return this.#frames.wait(
      (frame) => frame.method !== undefined && matches(frame),
      String(match),
      timeoutMs,
      from,
    );
  }

  /** A named thread that others can resume. */
  async startThread(cwd: string, params: object = {}): Promise<string> {
    const defaults = { cwd, sandbox: 'read-only', approvalPolicy: 'never' };
    const { thread } = await this.call('thread/start', { ...defaults, ...params });
    await this.call('thread/name/set', { threadId: thread.id, name: 'raw' });
    return thread.id;
  }

  /** Starts a turn, or steers the running one; resolves to the turn's id. */
  async startTurn(threadId: string, text: string, params: object = {}): Promise<string> {
    const input = [{ type: 'text', text }];
    const { turn } = await this.call('turn/start', { threadId, input, ...params });
    return turn.id;
  }

  /** The `turn` of its `turn/completed`. */
  async turnEnd(turnId: string): Promise<Loose> {
    const ended = (frame: Frame) => frame.method === 'turn/completed' && frame.params.turn.id === turnId;
    return (await this.wait(ended)).params.turn;
  }

  /** The thread's newest turns, newest first, with all their items. */
  async turns(threadId: string): Promise<Loose[]> {
    const params = { threadId, sortDirection: 'desc', itemsView: 'full' };
    return (await this.call('thread/turns/list', params)).data;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Codex 0.171.0 never answers the close handshake.
    this.#socket.terminate();
    await this.closed;
  }

  #receive(frame: Frame): void {
    this.#frames.add(frame);
    if (frame.method !== undefined || typeof frame.id !== 'number') return;
    this.#pending.get(frame.id)?.settle(frame);
    this.#pending.delete(frame.id);
  }

  #settleAll(): void {
    for (const { settle } of this.#pending.values()) settle(null);
    this.#pending.clear();
  }
}

function target(socketPath: string): string {
  try {
    return readlinkSync(socketPath);
  } catch {
    return socketPath;
  }
}
