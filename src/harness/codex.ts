import { join } from 'node:path';
import { PeerError } from '../errors.ts';
import { startDaemon } from '../rpc/daemon.ts';
import { type ConnectPorts, connectAtOpen, reconnect, systemClock } from './codex-connect.ts';
import { classifyFailure } from './codex-failure.ts';
import { readTurns } from './codex-history.ts';
import { trustFolder } from './codex-load.ts';
import { mcpTools } from './codex-mcp.ts';
import type { CodexThreadOptions } from './codex-options.ts';
import { paneCommand } from './codex-pane.ts';
import { CodexSession, type SessionOwner } from './codex-session.ts';
import type { HarnessEvent, HarnessThread, PaneCommand, ToolResult, Turn } from './harness.ts';

const UNSUBSCRIBE_MS = 1_000;
const RELOAD_MS = 100;
const RELOAD_MOST_MS = 10_000;

/**
 * Opens a Codex thread on the app-server daemon: connects (starting the daemon when it is absent), starts or
 * resumes the thread, and reads its rights back. Resolves when it is ready; the `ready` event and all that
 * follow wait for the first `listen`.
 *
 * Rejects with PeerError `codex-not-found`, `daemon-unreachable`, `daemon-draining`, `thread-unavailable`,
 * `rights-too-wide` or `unsafe-folder`.
 */
export async function openCodexThread(options: CodexThreadOptions): Promise<HarnessThread> {
  const thread = new CodexThread(options);
  await thread.open();
  return thread;
}

class CodexThread implements HarnessThread, SessionOwner {
  readonly harness = 'codex';
  readonly #options: CodexThreadOptions;
  readonly #socketPath: string;
  readonly #ending = new AbortController();
  readonly #early: HarnessEvent[] = [];
  #listener: ((event: HarnessEvent) => void) | null = null;
  /** The newest connection, ready or not yet. */
  #newest: CodexSession | null = null;
  /** The session that reported ready; null while there is no connection. */
  #session: CodexSession | null = null;
  #id: string | null;
  #cwd = '';
  #version = 'unknown';
  #waitingFor: string | null = null;
  #isMessageWaiting = false;
  /** In a row, none accepted between. */
  #refusals = 0;
  /** One loop at a time: the next one begins when the last one has ended. */
  #loop: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;
  isPaneAttached: boolean;
  isOpen = false;
  rightsWereWide = false;

  constructor(options: CodexThreadOptions) {
    this.#options = options;
    this.#socketPath =
      options.socketPath ?? join(options.codexHome, 'app-server-control', 'app-server-control.sock');
    this.#id = options.thread.kind === 'resume' ? options.thread.id : null;
    this.isPaneAttached = !options.headless;
  }

  get id(): string {
    return this.#id ?? '';
  }

  get version(): string {
    return this.#version;
  }

  get pane(): PaneCommand {
    return paneCommand(this.#options, this.#socketPath, this.id, this.#cwd);
  }

  async open(): Promise<void> {
    const { signal } = this.#options;
    signal.throwIfAborted();
    signal.addEventListener('abort', () => void this.close(), { once: true, signal: this.#ending.signal });
    try {
      await connectAtOpen(this.#ports());
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  listen(listener: (event: HarnessEvent) => void): void {
    this.#listener = listener;
    for (const event of this.#early.splice(0)) listener(event);
  }

  start(clientId: string, text: string): void {
    if (this.#session?.start(clientId, text)) return;
    // Later, as every event comes: the caller has not yet noted that it called.
    queueMicrotask(() => {
      this.#emit({
        type: 'start-refused',
        clientId,
        refusal: 'not-ready',
        message: 'the thread is not ready',
      });
    });
  }

  async readTurns(sinceTurnId: string | null): Promise<readonly Turn[]> {
    const session = this.#session;
    if (session === null) throw notConnected();
    const { rpc, view } = session;
    const hasRested = () => view.hasRested();
    return readTurns({ rpc, threadId: this.id, isLegacy: view.isLegacy, hasRested }, sinceTurnId);
  }

  async mcpTools(serverName: string, limitMs: number): Promise<readonly string[] | null> {
    const session = this.#session;
    if (session === null) throw notConnected();
    return mcpTools(session.rpc, this.id, serverName, limitMs);
  }

  /** A call can come before its connection has reported ready. */
  answerTool(callId: string, result: ToolResult): boolean {
    return this.#newest?.tools.answer(callId, result) ?? false;
  }

  paneAttached(attached: boolean): void {
    this.isPaneAttached = attached;
    this.#newest?.paneAttached(attached);
  }

  messageWaits(): void {
    this.#isMessageWaiting = true;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /**
   * An archived thread is unloaded 2 ms before the archive is told, a reverted one is loaded again at once
   * (Codex 0.171.0). A thread that goes on refusing is asked less and less often.
   */
  get reloadDelayMs(): number {
    return Math.min(RELOAD_MS * 2 ** this.#refusals, RELOAD_MOST_MS);
  }

  onEvent(session: CodexSession, event: HarnessEvent): void {
    if (event.type === 'ready') {
      this.isOpen = true;
      this.#session = session;
      this.#isMessageWaiting = false;
      this.#waitingFor = null;
    }
    if (event.type === 'ready' || event.type === 'settings') this.#cwd = event.settings.cwd;
    if (event.type === 'start-accepted') this.#refusals = 0;
    if (event.type === 'start-refused' && event.refusal === 'not-ready') this.#refusals += 1;
    if (event.type === 'waiting') this.#tellWaiting(event.waitingFor);
    else this.#emit(event);
  }

  onClose(session: CodexSession): void {
    if (session !== this.#session) return;
    this.#session = null;
    if (this.#closing !== null) return;
    this.#waitingFor = 'Codex daemon';
    this.#emit({ type: 'disconnected', waitingFor: this.#waitingFor });
    this.#loop = this.#loop.then(() => this.#reconnect());
  }

  async #reconnect(): Promise<void> {
    try {
      const cause = await reconnect(this.#ports());
      if (cause !== null) this.#emit({ type: 'gone', cause });
    } catch (error) {
      if (!this.#ending.signal.aborted) throw error;
    }
  }

  async #end(): Promise<void> {
    this.#ending.abort();
    if (this.#session === null) this.#newest?.close();
    await this.#session?.leave(UNSUBSCRIBE_MS);
  }

  async #attempt(startedByUs: boolean): Promise<void> {
    const { thread, trust } = this.#options;
    const session = new CodexSession(this.#options, this, startedByUs);
    this.#newest = session;
    try {
      this.#adoptVersion(await session.connect(this.#socketPath, this.#ending.signal));
      if (this.#id !== null) await session.resumeThread(this.#id);
      else if (thread.kind === 'start') this.#id = await session.startThread(thread.cwd);
      if (trust && !this.isOpen) await trustFolder(session.rpc, session.view);
      await session.makeReady(this.id);
    } catch (error) {
      session.close();
      throw error;
    }
  }

  #adoptVersion(version: string): void {
    if (version === this.#version) return;
    this.#version = version;
    const { codexVersion: installed, log } = this.#options;
    if (installed && installed !== version)
      log.write('codex-versions-differ', { installed, daemon: version });
  }

  #ports(): ConnectPorts {
    const { name } = this.#options;
    return {
      attempt: (startedByUs) => this.#attempt(startedByUs),
      classify: (error) => classifyFailure(error, name),
      startDaemon: () => this.#startDaemon(),
      messageWaits: () => this.#isMessageWaiting,
      waiting: (waitingFor) => this.#tellWaiting(waitingFor),
      clock: systemClock,
      signal: this.#ending.signal,
    };
  }

  async #startDaemon(): Promise<boolean> {
    const { codexPath, codexHome, env, log } = this.#options;
    const start =
      this.#options.startDaemon ?? (() => startDaemon(codexPath, { ...env, CODEX_HOME: codexHome }));
    const report = await start();
    log.write('daemon-start', { report });
    const isObject = typeof report === 'object' && report !== null && 'status' in report;
    return !isObject || report.status === 'started';
  }

  #tellWaiting(waitingFor: string): void {
    if (waitingFor === this.#waitingFor) return;
    this.#waitingFor = waitingFor;
    this.#emit({ type: 'waiting', waitingFor });
  }

  #emit(event: HarnessEvent): void {
    if (this.#closing !== null) return;
    if (this.#listener === null) this.#early.push(event);
    else this.#listener(event);
  }
}

function notConnected(): PeerError {
  return new PeerError('connection-closed', 'The Codex daemon is not connected.');
}
