import type { ToolResult } from '../harness/harness.ts';
import { LIMITS } from '../limits.ts';
import {
  closing,
  deadlinePassed,
  endingBy,
  refusedWhileWaiting,
  takenUp,
  tooManyQuestions,
} from './ask-endings.ts';
import type { Agent, Courier, Sent, Word } from './courier.ts';
import { failed } from './sentences.ts';

export interface AskArguments {
  readonly to: string;
  readonly text: string;
  readonly deadlineSeconds: number | null;
}

/** A question on its way. Without an open call it is kept: a turn that goes on after a restart asks again. */
interface Question {
  readonly to: Agent;
  readonly text: string;
  readonly sent: Sent;
  callId: string;
  isCallOpen: boolean;
  isHeld: boolean;
  wasIdleWhileHeld: boolean;
  deadline: NodeJS.Timeout | undefined;
  /** Came while no call was open. */
  ending: Ending | null;
}

interface Ending {
  readonly result: ToolResult;
  /** The reply behind it, to be given to the thread as a message. */
  readonly queue: (() => void) | null;
}

/** How the calls of `ask` are given their results. */
export interface AskCalls {
  /** False when the call is not open: then it has no result yet. */
  answer(callId: string, result: ToolResult): boolean;
  /** The call is over; if it comes again all the same, this is its result. */
  giveUp(callId: string, result: ToolResult): void;
}

/** The calls of `ask`, each open until its question ends: by a reply, a refusal, an idle other side, a deadline. */
export class Asks {
  readonly #courier: Courier;
  readonly #calls: AskCalls;
  readonly #questions = new Set<Question>();
  #isClosed = false;

  constructor(courier: Courier, calls: AskCalls) {
    this.#courier = courier;
    this.#calls = calls;
  }

  /**
   * Asks, or goes on waiting where a call that was cut off asked the same of the same process. Resolves with the
   * result when there is nothing to wait for, else with null.
   * @throws PeerError when there is nobody to ask
   */
  async ask(
    callId: string,
    turnId: string,
    { to, text, deadlineSeconds }: AskArguments,
  ): Promise<ToolResult | null> {
    const agent = await this.#courier.find(to);
    const kept = this.#keptQuestion(agent, text);
    if (kept !== undefined) return this.#takeUp(kept, callId, deadlineSeconds);
    const refusal = this.#refusal(agent);
    if (refusal !== null) return refusal;
    const outgoing = { text, turnId, isAsk: true, wantsIdleNotice: agent.tellsWhenIdle };
    const sent = this.#courier.send(agent, outgoing, (word) => this.#hear(question, word));
    const question: Question = {
      ...{ to: agent, text, sent, callId },
      isCallOpen: true,
      isHeld: false,
      wasIdleWhileHeld: false,
      deadline: undefined,
      ending: null,
    };
    this.#questions.add(question);
    this.#arm(question, deadlineSeconds);
    const written = await sent.written;
    if (written.delivery !== 'written') this.#end(question, failed(written.reason));
    return null;
  }

  /** The same call came again: it is open. */
  replayed(callId: string): void {
    for (const question of this.#questions) if (question.callId === callId) this.#reopen(question);
  }

  /** The call is over without its result. */
  ended(callId: string): void {
    for (const question of this.#questions) if (question.callId === callId) question.isCallOpen = false;
  }

  /** Calls that are still open come again. */
  disconnected(): void {
    for (const question of this.#questions) question.isCallOpen = false;
  }

  /** No turn runs: what came for a call that was cut off is an ordinary message now. */
  idle(): void {
    for (const question of this.#questions) {
      if (question.ending !== null) this.#giveUp(question, question.ending);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const question of this.#questions) this.#end(question, closing(this.#courier.name, question.to));
    this.idle();
  }

  #refusal(agent: Agent): ToolResult | null {
    if (this.#isClosed) return closing(this.#courier.name, agent);
    if (this.#courier.waitsForUs(agent)) return refusedWhileWaiting(agent);
    const isFull = this.#questions.size >= LIMITS.openAsks;
    return isFull ? tooManyQuestions(this.#questions.size) : null;
  }

  #keptQuestion(agent: Agent, text: string): Question | undefined {
    const isSame = ({ to, text: asked, isCallOpen }: Question) =>
      !isCallOpen && asked === text && isSameProcess(to, agent);
    return [...this.#questions].find(isSame);
  }

  #takeUp(question: Question, callId: string, deadlineSeconds: number | null): null {
    this.#calls.giveUp(question.callId, takenUp());
    question.callId = callId;
    this.#arm(question, deadlineSeconds);
    this.#reopen(question);
    return null;
  }

  #reopen(question: Question): void {
    question.isCallOpen = true;
    if (question.ending !== null) this.#tell(question, question.ending);
  }

  #arm(question: Question, seconds: number | null): void {
    clearTimeout(question.deadline);
    if (seconds === null || question.ending !== null) return;
    const pass = () => this.#end(question, deadlinePassed(question.to, question.sent.shortId, seconds));
    question.deadline = setTimeout(pass, seconds * 1_000);
  }

  #hear(question: Question, word: Word): void {
    if (word.type === 'receipt') this.#onReceipt(question, word.status);
    if (word.type === 'idle' && question.isHeld) {
      // It never saw the question; there is one notice per subscription.
      question.wasIdleWhileHeld = true;
      return;
    }
    const result = endingBy(word, question.to, question.sent.shortId);
    if (result !== null) this.#end(question, result, word.type === 'reply' ? word.queue : null);
  }

  #onReceipt(question: Question, status: string): void {
    question.isHeld = status === 'held';
    if (status !== 'delivered' || !question.wasIdleWhileHeld) return;
    question.wasIdleWhileHeld = false;
    question.sent.subscribe();
  }

  #end(question: Question, result: ToolResult, queue: Ending['queue'] = null): void {
    if (question.ending !== null) return;
    clearTimeout(question.deadline);
    question.sent.leave();
    question.ending = { result, queue };
    this.#tell(question, question.ending);
  }

  #tell(question: Question, ending: Ending): void {
    if (this.#calls.answer(question.callId, ending.result)) {
      this.#questions.delete(question);
      return;
    }
    question.isCallOpen = false;
    if (this.#courier.isIdle()) this.#giveUp(question, ending);
  }

  #giveUp(question: Question, { result, queue }: Ending): void {
    this.#questions.delete(question);
    this.#calls.giveUp(question.callId, result);
    if (queue === null) this.#courier.tellLater(result.text);
    else queue();
  }
}

function isSameProcess({ address: one }: Agent, { address: other }: Agent): boolean {
  return one.pid === other.pid && one.procStart === other.procStart;
}
