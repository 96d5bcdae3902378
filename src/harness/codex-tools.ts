import type { RequestId, RpcClient, ServerRequest } from '../rpc/client.ts';
import { toolCall } from '../rpc/protocol.ts';
import type { CodexThreadOptions } from './codex-options.ts';
import type { ToolEvent, ToolResult } from './harness.ts';

/**
 * The calls of our tools that are open on one connection. Request ids belong to a connection; a call that is not
 * answered is sent again on the next one, under the same call id (Codex 0.171.0).
 */
export class OpenToolCalls {
  readonly #rpc: RpcClient;
  readonly #log: CodexThreadOptions['log'];
  readonly #names: readonly string[];
  readonly #open = new Map<string, RequestId>();

  constructor(rpc: RpcClient, { dynamicTools = [], log }: Pick<CodexThreadOptions, 'dynamicTools' | 'log'>) {
    this.#rpc = rpc;
    this.#log = log;
    this.#names = dynamicTools.map(({ name }) => name);
  }

  /** Null when the request is anything but a call of one of our tools. */
  take({ id, method, params }: ServerRequest): ToolEvent | null {
    if (method !== 'item/tool/call') return null;
    const call = toolCall.safeParse(params);
    if (!call.success) return null;
    const { turnId, callId, namespace, tool } = call.data;
    if (namespace || !this.#names.includes(tool)) return null;
    this.#open.set(callId, id);
    return { type: 'tool-call', callId, turnId, tool, arguments: call.data.arguments };
  }

  /** False when the call is not open on this connection. */
  answer(callId: string, { text, success }: ToolResult): boolean {
    const id = this.#open.get(callId);
    if (id === undefined || this.#rpc.isClosed) return false;
    this.#open.delete(callId);
    this.#rpc.reply(id, { contentItems: [{ type: 'inputText', text }], success });
    return true;
  }

  /** A call is over; nothing is to be told when we answered it, or it never was ours. */
  done({ callId, isInterrupted }: { callId: string; isInterrupted: boolean }): ToolEvent[] {
    if (!this.#open.delete(callId)) return [];
    // The first answer of any client counts, an error included (Codex 0.171.0).
    if (!isInterrupted) this.#log.write('tool-answered-by-another', { callId });
    return [{ type: 'tool-ended', callId }];
  }
}
