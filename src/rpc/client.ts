import * as z from 'zod/mini';
import { PeerError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { wellFormedJson } from '../os/json.ts';
import type { TextSocket, TextSocketListener } from './socket.ts';

export type RequestId = string | number;

/** An error response, with the numbers and words of the other side. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}

export interface ServerRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: unknown;
}

/** What a client tells its owner, synchronously and in the order of the frames. */
export interface RpcListener {
  onNotification(method: string, params: unknown): void;
  onRequest(request: ServerRequest): void;
  /** Called once; every pending call has been rejected by then. */
  onClose(): void;
}

export interface CallOptions {
  /** Gets the result in frame order: before any later frame is looked at, unlike the promise. */
  readonly inOrder?: (result: unknown) => void;
  /** The same for an error response; not called when the connection closes or the time is over. */
  readonly inOrderError?: (error: RpcError) => void;
  readonly timeoutMs?: number;
}

interface PendingCall {
  readonly method: string;
  readonly options: CallOptions;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

const frameSchema = z.looseObject({
  id: z.optional(z.union([z.string(), z.number()])),
  method: z.optional(z.string()),
  params: z.optional(z.unknown()),
  result: z.optional(z.unknown()),
  error: z.optional(z.looseObject({ code: z.number(), message: z.string(), data: z.optional(z.unknown()) })),
});

/**
 * JSON-RPC over one text connection, as `codex app-server` speaks it: one object per frame, no `jsonrpc`
 * member, `params` always present (Codex 0.171.0). Frames that are no such object are ignored.
 */
export class RpcClient implements TextSocketListener {
  readonly #listener: RpcListener;
  readonly #pending = new Map<RequestId, PendingCall>();
  #socket: TextSocket | null = null;
  #lastId = 0;
  #isClosed = false;

  constructor(listener: RpcListener) {
    this.#listener = listener;
  }

  /** Gives the client its connection; frames may already have arrived by then. */
  attach(socket: TextSocket): void {
    this.#socket = socket;
    if (this.#isClosed) socket.close();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Sends a request. Rejects with RpcError on an error response, and with PeerError `connection-closed` when
   * the connection ends or `timeoutMs` (30 s) pass without a response. A later response is ignored.
   */
  call(method: string, params: object, options: CallOptions = {}): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(connectionClosed(method));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#expire(id), options.timeoutMs ?? LIMITS.rpcMs);
      this.#pending.set(id, { method, options, timer, resolve, reject });
      this.#send({ id, method, params });
    });
  }

  notify(method: string): void {
    this.#send({ method });
  }

  reply(id: RequestId, result: object): void {
    this.#send({ id, result });
  }

  replyError(id: RequestId, code: number, message: string): void {
    this.#send({ id, error: { code, message } });
  }

  close(): void {
    this.#socket?.close();
    this.onClose();
  }

  onText(text: string): void {
    if (this.#isClosed) return;
    const frame = frameSchema.safeParse(parseJson(text));
    if (!frame.success) return;
    const { id, method, params } = frame.data;
    if (method === undefined) {
      if (id !== undefined) this.#settle(id, frame.data.result, frame.data.error);
    } else if (id === undefined) {
      this.#listener.onNotification(method, params);
    } else {
      this.#listener.onRequest({ id, method, params });
    }
  }

  onClose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of pending) {
      clearTimeout(call.timer);
      call.reject(connectionClosed(call.method));
    }
    this.#listener.onClose();
  }

  #send(message: object): void {
    if (!this.#isClosed) this.#socket?.send(wellFormedJson(message));
  }

  #settle(
    id: RequestId,
    result: unknown,
    error: { code: number; message: string; data?: unknown } | undefined,
  ) {
    const call = this.#pending.get(id);
    if (call === undefined) return;
    this.#pending.delete(id);
    clearTimeout(call.timer);
    if (error !== undefined) {
      const rpcError = new RpcError(error.code, error.message, error.data);
      call.options.inOrderError?.(rpcError);
      call.reject(rpcError);
      return;
    }
    try {
      call.options.inOrder?.(result);
      call.resolve(result);
    } catch (unreadable) {
      call.reject(
        new PeerError('internal', `The Codex daemon's answer to ${call.method} cannot be read.`, {
          cause: unreadable,
        }),
      );
    }
  }

  #expire(id: RequestId): void {
    const call = this.#pending.get(id);
    if (call === undefined) return;
    this.#pending.delete(id);
    call.reject(
      new PeerError('connection-closed', `The Codex daemon did not answer ${call.method} in time.`),
    );
  }
}

function connectionClosed(method: string): PeerError {
  return new PeerError(
    'connection-closed',
    `The connection to the Codex daemon ended before ${method} was answered.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
