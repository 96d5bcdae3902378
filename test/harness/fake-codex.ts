import { openCodexThread } from '../../src/harness/codex.ts';
import type { CodexThreadOptions } from '../../src/harness/codex-options.ts';
import type { HarnessEvent, HarnessThread } from '../../src/harness/harness.ts';
import { FakeAppServer, until } from '../rpc/fake-app-server.ts';

export const THREAD = '01a22e20-0000-7000-8000-000000000001';
export const READ_ONLY = { type: 'readOnly', networkAccess: false };
export const WORKSPACE = { type: 'workspaceWrite', writableRoots: [], networkAccess: false };

/** An app-server with one thread, which tests bend by `answers` and `thread`. */
export class FakeCodex implements AsyncDisposable {
  readonly server: FakeAppServer;
  readonly thread = {
    status: { type: 'idle' } as object,
    sandbox: READ_ONLY as object,
    approvalPolicy: 'never',
    turns: [] as object[],
  };
  readonly events: HarnessEvent[] = [];
  readonly logged: string[] = [];
  #opened: HarnessThread | null = null;

  static async start(): Promise<FakeCodex> {
    return new FakeCodex(await FakeAppServer.start());
  }

  private constructor(server: FakeAppServer) {
    this.server = server;
    server.on('initialize', () => ({ userAgent: 'codex-tui/0.171.0 (Debian 12; x86_64) unknown' }));
    server.on('thread/start', () => this.response());
    server.on('thread/resume', () => this.response());
    server.on('thread/name/set', () => ({}));
    server.on('thread/settings/update', () => ({}));
    server.on('thread/unsubscribe', () => ({ status: 'unsubscribed' }));
    server.on('thread/turns/list', () => ({ data: this.thread.turns, nextCursor: null }));
  }

  response() {
    const { status, sandbox, approvalPolicy } = this.thread;
    return {
      thread: { id: THREAD, status, cwd: '/w', historyMode: 'paginated' },
      ...{ model: 'm', reasoningEffort: null, approvalPolicy, sandbox, cwd: '/w' },
    };
  }

  async open(options: Partial<CodexThreadOptions> = {}): Promise<HarnessThread> {
    const thread = await openCodexThread({
      codexHome: this.server.folder,
      codexPath: '/opt/codex',
      env: {},
      clientVersion: '0.0.0',
      name: 'Sol',
      thread: { kind: 'resume', id: THREAD },
      asked: { sandbox: 'read-only', approval: 'never' },
      headless: true,
      log: { write: (event) => this.logged.push(event) },
      signal: new AbortController().signal,
      socketPath: this.server.socketPath,
      startDaemon: async () => {},
      ...options,
    });
    this.#opened = thread;
    thread.listen((event) => this.events.push(event));
    return thread;
  }

  get types(): string[] {
    return this.events.map(({ type }) => type);
  }

  status(status: object, threadId = THREAD): object {
    return { method: 'thread/status/changed', params: { threadId, status } };
  }

  turn(method: 'turn/started' | 'turn/completed', id: string, status: string, threadId = THREAD): object {
    return { method, params: { threadId, turn: { id, rootTurnId: id, status, items: [] } } };
  }

  /** Resolves when an event of this type has come `count` times. */
  async heard(type: HarnessEvent['type'], count = 1): Promise<void> {
    const isHeard = () => this.types.filter((each) => each === type).length >= count;
    await until(isHeard, `${count} × ${type} after ${this.types.join(', ')}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.close();
    await this.server[Symbol.asyncDispose]();
  }
}
