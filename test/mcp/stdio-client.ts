import { type ChildProcess, spawn } from 'node:child_process';
import { Arrivals } from '../real/arrivals.ts';
import { peerCommand } from '../real/peer-process.ts';

// biome-ignore lint/suspicious/noExplicitAny: frames of the protocol, looked into only by assertions
type Loose = any;

export const MODERN = '2026-07-28';

/** What a request of the stateless era carries. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '0' },
};

/** A client of the built `peer mcp` that keeps every line of its stdout. */
export class StdioClient implements AsyncDisposable {
  readonly process: ChildProcess;
  /** Every line, parsed; a line that is no JSON fails the test that reads it. */
  readonly lines = new Arrivals<Loose>((line) => JSON.stringify(line));
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  stderr = '';
  #lastId = 0;
  #rest = '';

  constructor(env: NodeJS.ProcessEnv) {
    const [file = '', ...args] = peerCommand;
    this.process = spawn(file, [...args, 'mcp'], { env, cwd: env.HOME });
    this.process.stdout!.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    this.process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.process.stdin!.on('error', () => {});
    this.exited = new Promise((resolve) =>
      this.process.once('exit', (code, signal) => resolve({ code, signal })),
    );
  }

  get pid(): number {
    return this.process.pid!;
  }

  /** The handshake of the era before the stateless one; Codex 0.171.0 asks for this version. */
  async initialize(protocolVersion = '2025-06-18'): Promise<Loose> {
    const clientInfo = { name: 'test', version: '0' };
    const answer = await this.request('initialize', { protocolVersion, capabilities: {}, clientInfo });
    this.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer;
  }

  async request(method: string, params: object = {}): Promise<Loose> {
    const id = this.send(method, params);
    return this.lines.wait((line) => line.id === id, `the answer to ${method}`, 10_000);
  }

  modernRequest(method: string, { _meta, ...params }: { _meta?: object; [field: string]: unknown } = {}) {
    return this.request(method, { ...params, _meta: { ...ENVELOPE, ..._meta } });
  }

  /** Sends a request and does not wait; its id. */
  send(method: string, params: object = {}): number {
    const id = ++this.#lastId;
    this.write({ jsonrpc: '2.0', id, method, params });
    return id;
  }

  write(frame: object): void {
    this.process.stdin!.write(`${JSON.stringify(frame)}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }

  #take(text: string): void {
    const parts = (this.#rest + text).split('\n');
    this.#rest = parts.pop() ?? '';
    for (const line of parts) this.lines.add(JSON.parse(line));
  }
}
