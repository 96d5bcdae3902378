import { randomUUID } from 'node:crypto';
import type { PeerMark } from '../frames/message.ts';
import type { HarnessThread, ToolEvent, ToolResult } from '../harness/harness.ts';
import type { Message, MessageRecord } from '../store/record.ts';
import { type ToolCall, Tools } from '../tools/call.ts';
import type { Agent, Courier } from '../tools/courier.ts';
import { agents, type FoundAgent, findAgent } from './agents.ts';
import { ControlCalls } from './control-calls.ts';
import { senderLabel } from './framing.ts';
import type { IdleNotice, Receipt } from './inbound.ts';
import { News } from './news.ts';
import { type Origin, OwnMessages, type OwnMessagesOptions } from './own-messages.ts';
import type { State } from './state.ts';
import type { Connecting } from './verify.ts';

export interface ToolCallsOptions extends Omit<OwnMessagesOptions, 'news'> {
  readonly sessionsDir: string;
  readonly thread: HarnessThread;
  readonly state: () => State;
  /** A message of the record. */
  readonly message: (id: string) => Message | undefined;
  readonly claimCall: MessageRecord['claimCall'];
}

/** The peer's own tools on its thread: calls in, messages out in the peer's name, and what is heard of those. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #news = new News();
  readonly #own: OwnMessages;
  readonly #tools: Tools;
  readonly #controlCalls = new ControlCalls();
  /** Who stands still until we have answered this message. */
  readonly #askers = new Map<string, Connecting>();

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    this.#own = new OwnMessages({ ...options, news: this.#news });
    const { thread, log } = options;
    this.#tools = new Tools(this.#courier(), (callId, result) => {
      // A call can come both ways under one id: neither takes the result from the other.
      const isOpenThere = this.#controlCalls.answer(callId, result);
      const isOpen = thread.answerTool(callId, result) || isOpenThere;
      log.write('tool-result', { callId, success: result.success, isOpen });
      return isOpen;
    });
  }

  onEvent(event: ToolEvent): void {
    if (event.type === 'tool-ended') return this.#tools.ended(event.callId);
    const { callId, turnId, tool } = event;
    this.#options.log.write('tool-call', { callId, turnId, tool });
    this.#tools.call(event);
  }

  /** A call of the thread's model that came over the control socket. Rejects when the signal aborts. */
  fromControl(call: ToolCall, signal: AbortSignal): Promise<ToolResult> {
    const { callId, turnId, tool } = call;
    this.#options.log.write('tool-call', { callId, turnId, tool, through: 'control' });
    const result = this.#controlCalls.wait(call, signal, () => this.#tools.ended(callId));
    this.#tools.call(call);
    return result;
  }

  onDisconnected(): void {
    this.#tools.disconnected();
    // Calls over the control socket do not depend on that connection.
    for (const call of this.#controlCalls.open) this.#tools.call(call);
  }

  /** Whether a verified message is the reply to a question that waits here; else it goes to the thread. */
  takes(message: Message, mark: PeerMark | null, from: Connecting): boolean {
    if (!mark?.ask) return this.#own.takes(message, mark, from);
    // Before it is recorded: the model can be given it, and its outcome can come, at once.
    this.#askers.set(message.id, from);
    return false;
  }

  /** A message for the thread that is being recorded: a question that could not be is none. */
  async receiving({ id }: Message, recording: Promise<void>): Promise<void> {
    await recording.catch((error: unknown) => {
      this.#askers.delete(id);
      throw error;
    });
    const asker = this.#askers.get(id);
    if (asker !== undefined) this.#own.askedBy(asker);
  }

  onReceipt(receipt: Receipt, from: Connecting): void {
    this.#own.receipt(receipt, from);
    this.onState();
  }

  onIdleNotice(notice: IdleNotice, from: Connecting): void {
    this.#own.idleNotice(notice, from);
  }

  onOutcome({ id }: Message): void {
    this.#askers.delete(id);
    this.#news.settled(id);
  }

  /** The user text of a message, with what the model should know by now in front. */
  withNews(message: Message, text: string): string {
    return this.#news.before(message.id, text);
  }

  /** Looks whether the thread is idle: then what waited for the end of a turn has its time. */
  onState(): void {
    if (!isIdle(this.#options.state())) return;
    this.#tools.idle();
    const text = this.#news.wake();
    if (text !== null) this.#options.receive(notice(text));
  }

  close(): void {
    this.#tools.close();
    this.#own.close();
  }

  #courier(): Courier {
    const { name, sessionsDir, state, claimCall } = this.#options;
    return {
      name,
      agents: () => agents(sessionsDir),
      find: (to) => findAgent(sessionsDir, to),
      // Whoever is sent to was found by us.
      send: (to, message, hear) =>
        this.#own.send(to as FoundAgent, message, this.#origin(message.turnId), hear),
      waitsForUs: (agent) => [...this.#askers.values()].some((asker) => isProcess(agent, asker)),
      whoBegan: (turnId) => whoGetsTheFinal(this.#beginner(turnId)),
      isIdle: () => isIdle(state()),
      claimCall,
      tellLater: (text) => this.#news.add({ about: null, text, wakes: false }),
    };
  }

  #origin(turnId: string): Origin {
    const message = this.#beginner(turnId);
    return { hopChain: message?.hopChain ?? [], isNotice: message?.mark === 'notice' };
  }

  /** The message that began a turn; a recovery turn goes on with that of the turn before it. */
  #beginner(turnId: string): Message | undefined {
    const { claims } = this.#options.state();
    const claim = claims.find((one) => one.turnId === turnId) ?? claims[0];
    return claim === undefined ? undefined : this.#options.message(claim.waiting.id);
  }
}

/** No turn runs, and none is going to go on after a restart of the daemon. */
function isIdle({ phase, isReady, thread, recovery }: State): boolean {
  return phase === 'serving' && isReady && thread.type === 'idle' && recovery === 'over';
}

function isProcess({ address }: Agent, { pid, procStart }: Connecting): boolean {
  return address.pid === pid && (address.procStart ?? procStart) === procStart;
}

function whoGetsTheFinal(message: Message | undefined): string {
  if (message === undefined) return 'whoever reads your terminal';
  const isOneWay = message.mark === 'answer' || message.mark === 'note' || message.mark === 'notice';
  if (isOneWay || message.sender.replyTo === null) return 'nobody';
  return senderLabel(message.sender);
}

/** A message of ours to the model; it comes from nobody and nobody is answered. */
function notice(text: string): Message {
  return {
    id: randomUUID(),
    msgId: null,
    text,
    priority: 'next',
    mark: 'notice',
    inReplyTo: null,
    hopChain: [],
    sender: { kind: 'script', name: '', replyTo: null },
    afterTurnId: null,
    receivedAtMs: Date.now(),
  };
}
