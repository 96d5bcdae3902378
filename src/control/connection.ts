import type { Socket } from 'node:net';
import { errorCode, errorMessage, PeerError } from '../errors.ts';
import { LineSplitter } from '../frames/lines.ts';
import type { ToolResult } from '../harness/harness.ts';
import { LIMITS } from '../limits.ts';
import {
  type ControlRequest,
  type ControlResult,
  controlRequest,
  type ToolParams,
  toolParams,
} from './protocol.ts';

export interface ControlLog {
  write(event: string, fields: Record<string, unknown>): void;
}

/** What a wrapper answers with. A rejected PeerError is told in its words. */
export interface ControlHandlers {
  status(): ControlResult<'status'>;
  /** May take as long as an answer takes. The signal aborts when the caller has given up. */
  tool(params: ToolParams, signal: AbortSignal): Promise<ToolResult>;
}

export interface ConnectionOptions {
  readonly socket: Socket;
  readonly pid: number;
  readonly handlers: ControlHandlers;
  readonly log: ControlLog;
}

/** When the server closes, open calls may still be answered for so long. */
const STOP_MS = 500;

/**
 * One connection of a process of ours. Its end, in either direction, abandons what it asked for; a line that was
 * not completed by then counts as nothing.
 */
export class ControlConnection {
  readonly #options: ConnectionOptions;
  readonly #lines = new LineSplitter(LIMITS.controlLineChars);
  /** Open calls; a signal for each, since Node warns on the terminal of more than ten listeners at one. */
  readonly #calls = new Map<Promise<void>, AbortController>();
  #isStopped = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #unreadTimer: NodeJS.Timeout | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { socket, pid, log } = options;
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.on('error', (error) => log.write('control-broken', { pid, code: errorCode(error) }));
    socket.once('close', () => this.#onClose());
    this.#armIdle();
  }

  /** Takes no further request; resolves when the connection is gone. */
  async stop(): Promise<void> {
    const { socket } = this.#options;
    this.#isStopped = true;
    if (socket.destroyed) return;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const timer = setTimeout(() => socket.destroy(), STOP_MS);
    void Promise.all(this.#calls.keys()).then(() => socket.end());
    await closed;
    clearTimeout(timer);
  }

  #onData(chunk: Buffer): void {
    if (this.#isStopped) return;
    for (const line of this.#lines.push(chunk)) {
      if (line.trim() !== '') this.#onLine(line);
    }
    if (this.#lines.overflowed) this.#onTooLong();
  }

  #onLine(line: string): void {
    const request = readRequest(line);
    if (request === null) return this.#fail(null, usage('The line is no request of the control socket.'));
    if (this.#calls.size >= LIMITS.controlCalls) {
      return this.#fail(request.id, usage(`More than ${LIMITS.controlCalls} calls on one connection.`));
    }
    const abandoned = new AbortController();
    const call = this.#answer(request, abandoned.signal).finally(() => {
      this.#calls.delete(call);
      this.#armIdle();
    });
    this.#calls.set(call, abandoned);
    clearTimeout(this.#idleTimer);
  }

  async #answer(request: ControlRequest, signal: AbortSignal): Promise<void> {
    const { pid, log } = this.#options;
    log.write('control-call', { pid, method: request.method });
    try {
      this.#write({ id: request.id, result: await this.#perform(request, signal) });
    } catch (error) {
      this.#fail(request.id, error);
    }
  }

  #perform({ method, params }: ControlRequest, signal: AbortSignal): unknown {
    const { handlers } = this.#options;
    switch (method) {
      case 'status':
        return handlers.status();
      case 'tool': {
        const call = toolParams.safeParse(params);
        if (!call.success)
          throw usage('`tool` takes threadId, tool, arguments, and perhaps turnId and callId.');
        return handlers.tool(call.data, signal);
      }
      default:
        throw usage(`This peer knows no "${method}": it may be of an older version.`);
    }
  }

  #onTooLong(): void {
    this.#fail(null, usage(`A line has at most ${LIMITS.controlLineChars} characters.`));
    void this.stop();
  }

  #fail(id: ControlRequest['id'] | null, error: unknown): void {
    const word = error instanceof PeerError ? error.word : 'internal';
    const message = errorMessage(error);
    this.#options.log.write('control-error', { pid: this.#options.pid, word, message });
    this.#write({ id, error: { word, message } });
  }

  #write(answer: object): void {
    const { socket } = this.#options;
    if (!socket.writable) return;
    socket.write(`${JSON.stringify(answer)}\n`);
    if (socket.writableLength > LIMITS.controlUnreadBytes) this.#holdUntilRead();
  }

  /** Who does not read its answers is not read either, and is cut off when it goes on like that. */
  #holdUntilRead(): void {
    if (this.#unreadTimer !== undefined) return;
    const { socket, pid, log } = this.#options;
    socket.pause();
    this.#unreadTimer = setTimeout(() => {
      log.write('control-unread', { pid, bytes: socket.writableLength });
      socket.destroy();
    }, LIMITS.lineTimeoutMs);
    socket.once('drain', () => {
      clearTimeout(this.#unreadTimer);
      this.#unreadTimer = undefined;
      socket.resume();
    });
  }

  #armIdle(): void {
    clearTimeout(this.#idleTimer);
    const { socket } = this.#options;
    if (this.#calls.size > 0 || socket.destroyed) return;
    this.#idleTimer = setTimeout(() => socket.destroy(), LIMITS.lineTimeoutMs);
  }

  #onClose(): void {
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#unreadTimer);
    for (const abandoned of this.#calls.values()) abandoned.abort();
  }
}

function readRequest(line: string): ControlRequest | null {
  try {
    return controlRequest.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

function usage(message: string): PeerError {
  return new PeerError('usage', message);
}
