import * as z from 'zod/mini';
import { errorMessage, PeerError } from '../errors.ts';
import type { ToolResult } from '../harness/harness.ts';
import { LIMITS } from '../limits.ts';
import { Asks } from './ask.ts';
import type { Courier } from './courier.ts';
import { listAgents } from './list-agents.ts';
import { sendMessage } from './send-message.ts';
import { failed } from './sentences.ts';

export interface ToolCall {
  readonly callId: string;
  readonly turnId: string;
  readonly tool: string;
  readonly arguments: unknown;
}

/** Models give a pid as a number now and then, and further fields. */
const to = z.union([z.string().check(z.trim(), z.minLength(1)), z.pipe(z.int(), z.transform(String))]);
const text = z.string().check(z.minLength(1));
const sendMessageSchema = z.looseObject({ to, text, notify_when_idle: z.nullish(z.boolean()) });
const askSchema = z.looseObject({
  to,
  text,
  deadline_seconds: z.nullish(z.number().check(z.positive(), z.maximum(LIMITS.askDeadlineSeconds))),
});

/**
 * The peer's tools. Each call acts once, however often it comes and however often the peer is opened, and is answered
 * when it is done.
 */
export class Tools {
  readonly #courier: Courier;
  readonly #answer: (callId: string, result: ToolResult) => boolean;
  readonly #asks: Asks;
  /** Null while the call runs. */
  readonly #calls = new Map<string, ToolResult | null>();

  /** @param answer says whether the call was open, and so has its result */
  constructor(courier: Courier, answer: (callId: string, result: ToolResult) => boolean) {
    this.#courier = courier;
    this.#answer = answer;
    this.#asks = new Asks(courier, {
      answer: (callId, result) => {
        const isAnswered = answer(callId, result);
        if (isAnswered) this.#remember(callId, result);
        return isAnswered;
      },
      giveUp: (callId, result) => this.#remember(callId, result),
    });
  }

  /** A call that comes again goes on, or is given the result it was given before. */
  call(call: ToolCall): void {
    const known = this.#calls.get(call.callId);
    if (known === undefined) {
      this.#calls.set(call.callId, null);
      void this.#run(call);
    } else if (known === null) {
      this.#asks.replayed(call.callId);
    } else {
      this.#answer(call.callId, known);
    }
  }

  /** The call is over without our answer. */
  ended(callId: string): void {
    this.#asks.ended(callId);
  }

  /** The calls that are open come again, unless their turn is over. */
  disconnected(): void {
    this.#asks.disconnected();
  }

  /** No turn runs. */
  idle(): void {
    this.#asks.idle();
  }

  /** Ends every wait. */
  close(): void {
    this.#asks.close();
  }

  async #run(call: ToolCall): Promise<void> {
    try {
      const result = await this.#dispatch(call);
      if (result !== null) this.#settle(call.callId, result);
    } catch (error) {
      this.#settle(call.callId, failed(error instanceof PeerError ? error.message : broken(call, error)));
    }
  }

  /** Null when the call stays open. */
  async #dispatch({ callId, turnId, tool, arguments: given }: ToolCall): Promise<ToolResult | null> {
    switch (tool) {
      case 'list_agents':
        return listAgents(this.#courier);
      case 'send_message': {
        const parsed = sendMessageSchema.safeParse(given);
        if (!parsed.success) return wrongArguments(tool, parsed.error);
        const { to, text, notify_when_idle } = parsed.data;
        const wanted = { to, text, notifyWhenIdle: notify_when_idle ?? false };
        return (await this.#refusal(callId)) ?? sendMessage(this.#courier, turnId, wanted);
      }
      case 'ask': {
        const parsed = askSchema.safeParse(given);
        if (!parsed.success) return wrongArguments(tool, parsed.error);
        const { to, text, deadline_seconds } = parsed.data;
        const question = { to, text, deadlineSeconds: deadline_seconds ?? null };
        return (await this.#refusal(callId)) ?? this.#asks.ask(callId, turnId, question);
      }
      default:
        return failed(`There is no tool ${tool} here.`);
    }
  }

  /** Null when the call may act, which is recorded first. */
  async #refusal(callId: string): Promise<ToolResult | null> {
    try {
      return (await this.#courier.claimCall(callId)) ? null : madeBefore();
    } catch (error) {
      return failed(`Nothing was sent: ${errorMessage(error)}`);
    }
  }

  #settle(callId: string, result: ToolResult): void {
    this.#remember(callId, result);
    this.#answer(callId, result);
  }

  /** The newest last; past the cap the oldest that is done is forgotten. */
  #remember(callId: string, result: ToolResult): void {
    this.#calls.delete(callId);
    this.#calls.set(callId, result);
    if (this.#calls.size <= LIMITS.toolCalls) return;
    for (const [id, known] of this.#calls) {
      if (known === null) continue;
      this.#calls.delete(id);
      return;
    }
  }
}

function madeBefore(): ToolResult {
  return failed(
    'This call was made before the peer was opened again; whether the message was written is not known. Do not send it again without looking. An answer to it comes as a message of its own.',
  );
}

function wrongArguments(tool: string, error: z.core.$ZodError): ToolResult {
  const [issue] = error.issues;
  const field = issue?.path[0];
  const what = field === undefined ? 'its arguments are no object' : `"${String(field)}" is missing or wrong`;
  return failed(`Nothing was done: ${what}. ${USAGE[tool] ?? ''}`);
}

const USAGE: Readonly<Record<string, string>> = {
  send_message:
    'send_message takes "to" (a name or pid from list_agents), "text" (not empty) and, if wanted, "notify_when_idle" (true or false).',
  ask: `ask takes "to" (a name or pid from list_agents), "text" (not empty) and, if wanted, "deadline_seconds" (more than 0, at most ${LIMITS.askDeadlineSeconds}).`,
};

function broken({ tool }: ToolCall, error: unknown): string {
  return `${tool} failed inside the peer: ${errorMessage(error)}. Whether something was sent is not known.`;
}
