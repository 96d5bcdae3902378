import type { RequestId, RpcClient, ServerRequest } from '../rpc/client.ts';
import type { CodexThreadOptions } from './codex-options.ts';

/** How long another client of the thread may be first: the first answer counts, an error included. */
const HEADLESS_DELAY_MS = 2_000;

const DENIED = { decision: { denied: { rejection: 'Nobody is at this session to approve it.' } } };

/** The answer that grants nothing, per request (types of Codex 0.171.0). */
const DECLINES: Readonly<Record<string, object>> = {
  'item/commandExecution/requestApproval': { decision: 'decline' },
  'item/fileChange/requestApproval': { decision: 'decline' },
  'item/permissions/requestApproval': { permissions: {}, scope: 'turn' },
  'mcpServer/elicitation/request': { action: 'decline', content: null, _meta: null },
  execCommandApproval: DENIED,
  applyPatchApproval: DENIED,
};

/**
 * The daemon's questions on one connection. With a pane attached they are the person's: any answer of ours
 * would decide before the question is seen. Without one they would stay open for ever, so they are declined.
 */
export class ServerRequests {
  readonly #rpc: RpcClient;
  readonly #log: CodexThreadOptions['log'];
  readonly #open = new Map<RequestId, { readonly request: ServerRequest; timer: NodeJS.Timeout | null }>();
  #isPaneAttached: boolean;

  constructor(rpc: RpcClient, isPaneAttached: boolean, log: CodexThreadOptions['log']) {
    this.#rpc = rpc;
    this.#isPaneAttached = isPaneAttached;
    this.#log = log;
  }

  add(request: ServerRequest): void {
    this.resolved(request.id);
    this.#open.set(request.id, { request, timer: null });
    if (!this.#isPaneAttached) this.#arm(request.id);
  }

  /** Somebody answered it, or its turn ended. */
  resolved(id: RequestId): void {
    clearTimeout(this.#open.get(id)?.timer ?? undefined);
    this.#open.delete(id);
  }

  paneAttached(isAttached: boolean): void {
    this.#isPaneAttached = isAttached;
    for (const [id, entry] of this.#open) {
      clearTimeout(entry.timer ?? undefined);
      entry.timer = null;
      if (!isAttached) this.#arm(id);
    }
  }

  /** Forgets everything: ids mean nothing on another connection, where open requests are sent again. */
  close(): void {
    for (const id of [...this.#open.keys()]) this.resolved(id);
  }

  #arm(id: RequestId): void {
    const entry = this.#open.get(id);
    if (entry === undefined) return;
    entry.timer = setTimeout(() => this.#decline(entry.request), HEADLESS_DELAY_MS);
  }

  #decline(request: ServerRequest): void {
    this.#open.delete(request.id);
    const decline = DECLINES[request.method];
    this.#log.write('request-declined', { method: request.method, isApproval: decline !== undefined });
    if (decline === undefined) {
      this.#rpc.replyError(request.id, -32601, `This client does not answer ${request.method}.`);
    } else {
      this.#rpc.reply(request.id, decline);
    }
  }
}
