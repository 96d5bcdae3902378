import { PeerError } from '../errors.ts';
import { RpcClient, type RpcError, type ServerRequest } from '../rpc/client.ts';
import { turnStartResponse } from '../rpc/protocol.ts';
import { openSocket } from '../rpc/socket.ts';
import { isAbout, type Notice, readableNotice } from './codex-events.ts';
import { classifyStart } from './codex-failure.ts';
import { newestTurn } from './codex-history.ts';
import { initialize, repairSettings, resumeThread, rightsTooWide, startThread } from './codex-load.ts';
import type { CodexThreadOptions } from './codex-options.ts';
import { ServerRequests } from './codex-requests.ts';
import { type ReportedSettings, rightsOfTurn } from './codex-rights.ts';
import { OpenToolCalls } from './codex-tools.ts';
import { ThreadView } from './codex-view.ts';
import type { HarnessEvent } from './harness.ts';

/** What a session tells the thread that owns it, synchronously and in frame order. */
export interface SessionOwner {
  readonly isPaneAttached: boolean;
  readonly reloadDelayMs: number;
  readonly isOpen: boolean;
  /** Set when wider rights are seen: a turn that runs keeps them, whatever the settings say afterwards. */
  rightsWereWide: boolean;
  onEvent(session: CodexSession, event: HarnessEvent): void;
  onClose(session: CodexSession): void;
}

/**
 * One connection with our thread on it. Any doubt about the thread ends the connection: the next one loads,
 * reads back and repairs from the start, and nothing this one still says is heard.
 */
export class CodexSession {
  readonly #options: CodexThreadOptions;
  readonly #owner: SessionOwner;
  readonly #startedByUs: boolean;
  readonly #rpc: RpcClient;
  readonly #requests: ServerRequests;
  readonly view: ThreadView;
  readonly tools: OpenToolCalls;
  #threadId: string | null = null;
  /** `held`: the person at the pane gave the thread wider rights than asked, so messages wait. */
  #phase: 'loading' | 'ready' | 'held' | 'ending' = 'loading';
  #reloadTimer: NodeJS.Timeout | undefined;

  constructor(options: CodexThreadOptions, owner: SessionOwner, startedByUs: boolean) {
    this.#options = options;
    this.#owner = owner;
    this.#startedByUs = startedByUs;
    this.view = new ThreadView(options.asked);
    this.#rpc = new RpcClient({
      onNotification: (method, params) => this.#onNotification(method, params),
      onRequest: (request) => this.#onRequest(request),
      onClose: () => this.#onClose(),
    });
    this.#requests = new ServerRequests(this.#rpc, owner.isPaneAttached, options.log);
    this.tools = new OpenToolCalls(this.#rpc, options);
  }

  get rpc(): RpcClient {
    return this.#rpc;
  }

  /** Connects; resolves with the daemon's version. Rejects as `openSocket` and `RpcClient.call` do. */
  async connect(socketPath: string, signal: AbortSignal): Promise<string> {
    this.#rpc.attach(await openSocket(socketPath, this.#rpc, signal));
    return initialize(this.#rpc, this.#options.clientVersion);
  }

  startThread(cwd: string): Promise<string> {
    return startThread(this.#rpc, this.view, this.#options, cwd, (id) => {
      this.#threadId = id;
    });
  }

  resumeThread(threadId: string): Promise<void> {
    this.#threadId = threadId;
    return resumeThread(this.#rpc, this.view, threadId, this.#options.asked);
  }

  /**
   * Repairs and reads back what the thread may do, then reports `ready`. Rejects with PeerError
   * `rights-too-wide` when it may still do more than asked.
   */
  async makeReady(threadId: string): Promise<void> {
    if (this.view.review().tooWide !== null) this.#owner.rightsWereWide = true;
    await repairSettings(this.#rpc, this.view, threadId, this.#options);
    this.#refuseWideRights();
    if (this.#owner.rightsWereWide) await this.#outlastTurn();
    await this.#reportReady(threadId);
    this.#refuseWideRights();
  }

  /** Gives one message to the thread; false when it is not ready and nothing was written. */
  start(clientId: string, text: string): boolean {
    if (this.#phase !== 'ready') return false;
    const input = [{ type: 'text', text, text_elements: [] }];
    const call = this.#rpc.call(
      'turn/start',
      {
        threadId: this.#threadId,
        clientUserMessageId: clientId,
        input,
        ...rightsOfTurn(this.#options.asked),
      },
      {
        inOrder: (result) => {
          this.#emit({ type: 'start-accepted', clientId, turnId: turnStartResponse.parse(result).turn.id });
        },
        inOrderError: (error) => this.#onStartError(clientId, error),
      },
    );
    call.catch((error) => {
      // No response, or one that cannot be read: only a read-back on a new connection can tell what happened.
      if (error instanceof PeerError) this.close();
    });
    return true;
  }

  paneAttached(isAttached: boolean): void {
    this.#requests.paneAttached(isAttached);
    if (!isAttached && this.#phase === 'held') this.#reload('the pane left wider rights behind');
  }

  /** Ends the subscription, so that an unused thread can be unloaded, then the connection. Never rejects. */
  async leave(timeoutMs: number): Promise<void> {
    this.#phase = 'ending';
    if (this.#threadId !== null) {
      await this.#rpc.call('thread/unsubscribe', { threadId: this.#threadId }, { timeoutMs }).catch(() => {});
    }
    this.close();
  }

  close(): void {
    this.#rpc.close();
  }

  async #reportReady(threadId: string): Promise<void> {
    await this.#rpc.call(
      'thread/turns/list',
      { threadId, limit: 1, sortDirection: 'desc', itemsView: 'notLoaded' },
      { inOrder: (result) => this.#onNewestTurn(result) },
    );
  }

  async #outlastTurn(): Promise<void> {
    const { name } = this.#options;
    if (this.view.status.type === 'active') {
      if (!this.#owner.isOpen) throw rightsTooWide(name, 'a turn still runs with rights that were wider');
      this.#emit({ type: 'waiting', waitingFor: 'the end of a turn with wider rights' });
    }
    await this.view.idle();
    this.#owner.rightsWereWide = false;
  }

  #refuseWideRights(): void {
    const { tooWide } = this.view.review();
    if (tooWide !== null) throw rightsTooWide(this.#options.name, tooWide);
  }

  #onNewestTurn(result: unknown): void {
    const { settings, status } = this.view;
    // The person at the pane may have widened the rights while this was under way.
    if (settings === null || this.view.review().tooWide !== null || this.#phase === 'ending') return;
    this.#phase = 'ready';
    const startedByUs = this.#startedByUs;
    this.#emit({ type: 'ready', status, settings, newestTurn: newestTurn(result), startedByUs });
  }

  #onStartError(clientId: string, error: RpcError): void {
    const refusal = classifyStart(error);
    this.#emit({ type: 'start-refused', clientId, refusal, message: error.message });
    if (refusal === 'draining') this.#emit({ type: 'waiting', waitingFor: 'daemon restart' });
    if (refusal === 'not-ready') this.#reload(error.message);
  }

  #onNotification(method: string, params: unknown): void {
    if (this.#threadId === null) return;
    const notice = readableNotice(this.#threadId, method, params, this.#options.log);
    if (notice !== null) this.#onNotice(notice);
  }

  #onNotice(notice: Notice): void {
    switch (notice.type) {
      case 'event':
        this.#emit(notice.event);
        break;
      case 'status':
        this.view.changeStatus(notice.status);
        this.#emit(notice);
        break;
      case 'settings':
        this.#onSettings(notice.settings);
        break;
      case 'unloaded':
        this.#reload('the thread was unloaded');
        break;
      case 'reverted':
        this.#emit(notice);
        this.#reload('the thread was reverted');
        break;
      case 'gone':
        this.#phase = 'ending';
        clearTimeout(this.#reloadTimer);
        this.#emit(notice);
        break;
      case 'resolved':
        this.#requests.resolved(notice.requestId);
        break;
      case 'tool-done':
        for (const ended of this.tools.done(notice)) this.#emit(ended);
        break;
    }
  }

  /** The choice of a person at the pane is not undone under their hands; without a pane it is repaired. */
  #onSettings(settings: ReportedSettings): void {
    this.view.settings = settings;
    this.#emit({ type: 'settings', settings });
    const { tooWide } = this.view.review();
    if (tooWide !== null) this.#owner.rightsWereWide = true;
    if (tooWide === null && this.#phase === 'held') {
      this.#reload('the rights are as asked again');
    } else if (tooWide !== null && this.#phase === 'ready') {
      this.#phase = 'held';
      this.#emit({ type: 'waiting', waitingFor: `narrower rights (${tooWide})` });
      if (!this.#owner.isPaneAttached) this.#reload(tooWide);
    }
  }

  #onRequest(request: ServerRequest): void {
    if (this.#threadId === null || !isAbout(this.#threadId, request.params)) return;
    const call = this.tools.take(request);
    if (call === null) this.#requests.add(request);
    else this.#emit(call);
  }

  #onClose(): void {
    this.#phase = 'ending';
    clearTimeout(this.#reloadTimer);
    this.#requests.close();
    this.view.end();
    this.#owner.onClose(this);
  }

  #reload(reason: string): void {
    if (this.#phase === 'loading' || this.#phase === 'ending') return;
    this.#phase = 'ending';
    this.#options.log.write('thread-reload', { reason });
    this.#emit({ type: 'waiting', waitingFor: 'thread reload' });
    this.#reloadTimer = setTimeout(() => this.close(), this.#owner.reloadDelayMs);
  }

  #emit(event: HarnessEvent): void {
    this.#owner.onEvent(this, event);
  }
}
