import { PeerError } from '../errors.ts';
import type { ToolResult } from '../harness/harness.ts';
import type { ToolCall } from '../tools/call.ts';

interface OpenCall {
  readonly call: ToolCall;
  /** One for each connection on which this call came. */
  readonly waiting: Set<(result: ToolResult) => void>;
}

/** Tool calls that came over the control socket, each open until it has its result or everybody has given it up. */
export class ControlCalls {
  readonly #open = new Map<string, OpenCall>();

  /** Calls that wait for their result. */
  get open(): readonly ToolCall[] {
    return [...this.#open.values()].map(({ call }) => call);
  }

  /** Waits for the result of a call. Rejects when the signal aborts; `onAbandoned` when nobody waits any more. */
  wait(call: ToolCall, signal: AbortSignal, onAbandoned: () => void): Promise<ToolResult> {
    const { waiting } = this.#open.get(call.callId) ?? this.#add(call);
    return new Promise((resolve, reject) => {
      waiting.add(resolve);
      signal.addEventListener('abort', () => {
        if (!waiting.delete(resolve)) return;
        if (waiting.size === 0) {
          this.#open.delete(call.callId);
          onAbandoned();
        }
        reject(new PeerError('interrupted', 'The caller has given up.'));
      });
    });
  }

  /** False when the call is not open here. */
  answer(callId: string, result: ToolResult): boolean {
    const { waiting } = this.#open.get(callId) ?? {};
    if (waiting === undefined) return false;
    this.#open.delete(callId);
    for (const resolve of waiting) {
      waiting.delete(resolve);
      resolve(result);
    }
    return true;
  }

  #add(call: ToolCall): OpenCall {
    const added = { call, waiting: new Set<(result: ToolResult) => void>() };
    this.#open.set(call.callId, added);
    return added;
  }
}
