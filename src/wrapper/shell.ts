import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorWord, errorMessage, PeerError } from '../errors.ts';
import type { HarnessThread } from '../harness/harness.ts';
import type { Log } from '../os/log.ts';
import type { Message, MessageRecord, Outcome } from '../store/record.ts';
import type { Claim, Effect, Event, StartEffect, State, Timer } from './state.ts';
import { initialState } from './state.ts';
import { isFull, step } from './step.ts';

/** Between two attempts to record what must be recorded; each attempt waits for a lock by itself. */
const RECORD_RETRY_MS = 1_000;
const TEMPORARY: readonly ErrorWord[] = ['store-busy', 'store-failed'];

export interface ShellOptions {
  readonly thread: HarnessThread;
  readonly record: MessageRecord;
  readonly log: Log;
  /** What an earlier wrapper of this thread left open. */
  readonly claims: readonly Claim[];
  /** The user text for a message, made when it is handed over. */
  readonly frame: (message: Message) => string;
  /** Called once per message, after its outcome is recorded. */
  readonly onOutcome: (message: Message, outcome: Outcome) => void;
  /** Called after every transition that changed the state. */
  readonly onState: (state: State) => void;
  /** Called when the record can be written no more: what is promised cannot be kept. */
  readonly onRecordLost: (error: unknown) => void;
}

/**
 * The thin shell around `step`: feeds it what happens, in order, and performs what it decides. What is to be
 * recorded is recorded in order, each step before the world sees it.
 */
export class Shell {
  readonly #options: ShellOptions;
  readonly #timers = new Map<Timer, NodeJS.Timeout>();
  readonly #events: Event[] = [];
  #recorded: Promise<void> = Promise.resolve();
  #isStepping = false;
  #state: State;

  constructor(options: ShellOptions) {
    this.#options = options;
    this.#state = initialState(options.claims);
  }

  get state(): State {
    return this.#state;
  }

  /** Takes what happened; events that arrive while effects are performed wait for their turn. */
  take(event: Event): void {
    this.#events.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    try {
      for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) this.#step(next);
    } finally {
      this.#isStepping = false;
    }
  }

  /**
   * Records a received message and queues it. Rejects when it cannot be taken: then it was not received. A full
   * queue is asked before the record, which a flood must not fill.
   */
  async receive(message: Message): Promise<void> {
    const { record, log } = this.#options;
    if (isFull(this.#state, Buffer.byteLength(message.text))) {
      throw new PeerError('refused', `${this.#state.queue.length} messages are waiting`);
    }
    await record.receive({ ...message, afterTurnId: this.#state.newestTurnId });
    const { id, msgId, priority, mark, sender } = message;
    const bytes = Buffer.byteLength(message.text);
    log.write('received', { id, msgId, from: sender.name, kind: sender.kind, priority, mark, bytes });
    this.take({ type: 'message', id, priority, bytes });
  }

  /** Gives every open message its outcome and stops all timers; resolves when that is recorded. */
  async close(): Promise<void> {
    this.take({ type: 'close' });
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    await this.#recorded;
  }

  #step(event: Event): void {
    const done = step(this.#state, event);
    const hasChanged = done.state !== this.#state;
    this.#state = done.state;
    for (const effect of done.effects) this.#perform(effect);
    if (hasChanged) this.#options.onState(done.state);
  }

  #perform(effect: Effect): void {
    const { record, thread } = this.#options;
    switch (effect.type) {
      case 'start':
        return this.#inOrder(() => this.#start(effect));
      case 'claim':
        return this.#inOrder(() => record.claim(effect.id, effect));
      case 'withdraw':
        return this.#inOrder(() => record.withdraw(effect.id));
      case 'taken':
        return this.#inOrder(() => record.taken(effect.id, effect.turnId));
      case 'outcome':
        return this.#inOrder(() => this.#settle(effect.id, effect.outcome));
      case 'read':
        return this.#read(effect);
      case 'timer':
        return this.#arm(effect.timer, effect.delayMs);
      case 'message-waits':
        return thread.messageWaits();
    }
  }

  #inOrder(task: () => Promise<void>): void {
    this.#recorded = this.#recorded.then(() => this.#persist(task));
  }

  /**
   * A claim or an outcome that the store cannot take now is tried again for as long as the peer lives: nothing was
   * recorded, and nothing is done before it is. New messages are turned away meanwhile by the same failure.
   */
  async #persist(task: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await task();
      } catch (error) {
        this.#options.log.write('record-failed', { error: errorMessage(error) });
        const isTemporary = error instanceof PeerError && TEMPORARY.includes(error.word);
        if (!isTemporary) return this.#options.onRecordLost(error);
        if (this.#state.phase === 'closing') return;
        await sleep(RECORD_RETRY_MS);
      }
    }
  }

  /** Recorded first. When the connection it was meant for ended meanwhile, it was never handed over: say so. */
  async #start(effect: StartEffect): Promise<void> {
    const { record, thread, frame, log } = this.#options;
    const { id, clientId, afterTurnId } = effect;
    const message = record.message(id);
    if (message === undefined) throw new Error(`message ${id} left the record before its outcome`);
    await record.claim(id, { clientId, afterTurnId });
    if (this.#state.epoch !== effect.epoch || this.#state.phase === 'closing') {
      const refusal = { clientId, refusal: 'not-ready', message: 'the connection ended' } as const;
      return this.take({ type: 'start-refused', ...refusal });
    }
    log.write('start', { id });
    thread.start(clientId, frame(message));
  }

  async #settle(id: string, outcome: Outcome): Promise<void> {
    const { record, log, onOutcome } = this.#options;
    const message = record.message(id);
    if (!(await record.outcome(id, outcome)) || message === undefined) return;
    log.write('outcome', {
      id,
      outcome: outcome.state,
      reason: 'reason' in outcome ? outcome.reason : undefined,
    });
    onOutcome(message, outcome);
  }

  #read({ sinceTurnId, basis }: Effect & { type: 'read' }): void {
    this.#options.thread.readTurns(sinceTurnId).then(
      (turns) => this.take({ type: 'read', basis, turns }),
      (error: unknown) => {
        this.#options.log.write('read-failed', { error: String(error) });
        this.take({ type: 'read-failed', basis });
      },
    );
  }

  #arm(timer: Timer, delayMs: number): void {
    clearTimeout(this.#timers.get(timer));
    const fire = () => {
      this.#timers.delete(timer);
      this.take({ type: 'timer', timer });
    };
    this.#timers.set(timer, setTimeout(fire, delayMs));
  }
}
