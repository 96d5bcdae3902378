import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';

export interface ReceivedFrame {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Answers a request by its return value; `undefined` leaves it open, a thrown `{code, message}` is an error. */
type Answer = (params: Record<string, unknown>, server: FakeAppServer) => unknown;

/** A WebSocket server on a Unix socket behind a symbolic link, as `codex app-server` makes it; scripted. */
export class FakeAppServer implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'fake-app-'));
  readonly socketPath = join(this.folder, 'control.sock');
  readonly received: ReceivedFrame[] = [];
  readonly answers = new Map<string, Answer>();
  /** Connections so far, closed ones included. */
  connections = 0;
  #http = createServer();
  #client: WebSocket | null = null;

  static async start(): Promise<FakeAppServer> {
    const server = new FakeAppServer();
    await server.listen();
    symlinkSync(server.#target, server.socketPath);
    return server;
  }

  get #target(): string {
    return join(this.folder, 't');
  }

  async listen(): Promise<void> {
    this.#http = createServer();
    const webSockets = new WebSocketServer({ server: this.#http });
    webSockets.on('connection', (client) => {
      this.connections += 1;
      this.#client = client;
      client.on('message', (data) => this.#receive(JSON.parse(String(data))));
    });
    await new Promise<void>((resolve) => this.#http.listen(this.#target, resolve));
  }

  on(method: string, answer: Answer): void {
    this.answers.set(method, answer);
  }

  send(...frames: object[]): void {
    for (const frame of frames) this.#client?.send(JSON.stringify(frame));
  }

  sendText(text: string): void {
    this.#client?.send(text);
  }

  /** All frames in one write, so that the client's socket hands them over in one tick. */
  sendTogether(...frames: object[]): void {
    const raw = (this.#client as unknown as { _socket: { cork(): void; uncork(): void } })._socket;
    raw.cork();
    this.send(...frames);
    raw.uncork();
  }

  notify(method: string, params: object): void {
    this.send({ method, params });
  }

  drop(): void {
    this.#client?.terminate();
  }

  /** Nobody listens any more, and the socket is gone: what a clean exit leaves. */
  async stop(): Promise<void> {
    this.drop();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  requests(method: string): ReceivedFrame[] {
    return this.received.filter((frame) => frame.method === method);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #receive(frame: ReceivedFrame): void {
    this.received.push(frame);
    const answer = frame.method === undefined ? undefined : this.answers.get(frame.method);
    if (frame.id === undefined || answer === undefined) return;
    try {
      const result = answer(frame.params ?? {}, this);
      if (result !== undefined) this.send({ id: frame.id, result });
    } catch (error) {
      this.send({ id: frame.id, error });
    }
  }
}

/** Resolves when `condition` holds; rejects after two seconds. */
export async function until(condition: () => boolean, what = 'the condition'): Promise<void> {
  const deadline = Date.now() + 2_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`${what} did not come about`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
