import type { HarnessThread } from '../harness/harness.ts';
import type { Log } from '../os/log.ts';
import type { Message, MessageRecord, Outcome } from '../store/record.ts';
import type { Effect, Event, State, Timer } from './state.ts';
import { initialState } from './state.ts';
import { step } from './step.ts';

export interface ShellOptions {
  readonly thread: HarnessThread;
  readonly record: MessageRecord;
  readonly log: Log;
  /** The user text for a message, made when it is handed over. */
  readonly frame: (message: Message) => string;
  /** Called once per message, after its outcome is recorded. */
  readonly onOutcome: (message: Message, outcome: Outcome) => void;
  /** Called after every transition that changed the state. */
  readonly onState: (state: State) => void;
}

/**
 * The thin shell around `step`: feeds it what happens, in order, and performs what it decides. Each effect is
 * recorded before the world sees it.
 */
export class Shell {
  readonly #options: ShellOptions;
  readonly #timers = new Map<Timer, NodeJS.Timeout>();
  readonly #events: Event[] = [];
  #isStepping = false;
  #state: State = initialState();

  constructor(options: ShellOptions) {
    this.#options = options;
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

  /** Records a received message and queues it. */
  receive(message: Message): void {
    const { record, log } = this.#options;
    record.receive(message);
    const { id, msgId, priority, text, sender } = message;
    log.write('received', { id, msgId, priority, from: sender.name, kind: sender.kind });
    this.take({ type: 'message', id, priority, bytes: Buffer.byteLength(text) });
  }

  /** Gives every open message its outcome and stops all timers. */
  close(): void {
    this.take({ type: 'close' });
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
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
        return this.#start(effect);
      case 'withdraw':
        return record.withdraw(effect.id);
      case 'taken':
        return record.taken(effect.id, effect.turnId);
      case 'outcome':
        return this.#settle(effect.id, effect.outcome);
      case 'read':
        return this.#read(effect);
      case 'timer':
        return this.#arm(effect.timer, effect.delayMs);
      case 'message-waits':
        return thread.messageWaits();
    }
  }

  #start(effect: Effect & { type: 'start' }): void {
    const { record, thread, frame, log } = this.#options;
    const { id, clientId, afterTurnId } = effect;
    const message = record.message(id);
    if (message === undefined) throw new Error(`message ${id} left the record before its outcome`);
    const text = frame(message);
    record.claim(id, { clientId, afterTurnId });
    log.write('start', { id });
    thread.start(clientId, text);
  }

  #settle(id: string, outcome: Outcome): void {
    const { record, log, onOutcome } = this.#options;
    const message = record.message(id);
    if (!record.outcome(id, outcome) || message === undefined) return;
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
