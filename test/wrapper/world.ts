import type { Item, ThreadEvent, Turn, TurnStatus } from '../../src/harness/harness.ts';
import type { Outcome } from '../../src/store/record.ts';
import { restoredClaims } from '../../src/wrapper/restore.ts';
import { type Effect, type Event, initialState, type State, type Timer } from '../../src/wrapper/state.ts';
import { step } from '../../src/wrapper/step.ts';
import { messageOf } from './message.ts';

type TruthItem = Item & { readonly covers?: ReadonlySet<string> };
interface TruthTurn {
  id: string;
  rootTurnId: string;
  status: TurnStatus;
  items: TruthItem[];
}
type Read = Extract<Effect, { type: 'read' }>;

/**
 * A daemon, a thread and a wrapper's pure part in one process: every action below may come at any moment, requests
 * and notifications travel in order and are lost when the connection breaks. Keeps its own book of what was really
 * put into the thread, to hold the wrapper's decisions against.
 */
export class World {
  state: State = initialState();
  readonly turns: TruthTurn[] = [];
  readonly outcomes = new Map<string, Outcome>();
  /** User items ever made, per client id; a revert takes none away. */
  readonly userItems = new Map<string, number>();
  readonly violations: string[] = [];
  /** What a wrapper that is killed leaves in its record, of messages without an outcome. */
  readonly #claimed = new Map<string, { afterTurnId: string | null; turnId: string | null }>();
  messages = 0;
  isConnected = false;
  isDraining = false;
  isSteerable = true;
  #ids = 0;
  #requests: string[] = [];
  #frames: ThreadEvent[] = [];
  #behindTool: string[] = [];
  #reads: Read[] = [];
  #recoverable: TruthTurn | null = null;
  #connection = 0;
  readonly #startedOn = new Map<string, number>();
  readonly #timers = new Set<Timer>();

  take(event: Event): void {
    const done = step(this.state, event);
    this.state = done.state;
    for (const effect of done.effects) this.#perform(effect);
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case 'start':
        if (this.outcomes.has(effect.id)) this.violations.push(`${effect.id} started after its outcome`);
        if (!this.isConnected) this.violations.push(`${effect.id} started without a connection`);
        this.#mayStart(effect.id);
        this.#claimed.set(effect.id, { afterTurnId: effect.afterTurnId, turnId: null });
        this.#requests.push(effect.clientId);
        break;
      case 'withdraw':
        this.#startedOn.delete(effect.id);
        this.#claimed.delete(effect.id);
        break;
      case 'outcome':
        this.#outcome(effect.id, effect.outcome);
        break;
      case 'taken': {
        const claim = this.#claimed.get(effect.id);
        if (claim) claim.turnId ??= effect.turnId;
        break;
      }
      case 'read':
        this.#reads.push(effect);
        break;
      case 'timer':
        this.#timers.add(effect.timer);
        break;
      default:
    }
  }

  /** Nothing is started while a message of an earlier connection is undecided. */
  #mayStart(id: string): void {
    for (const [other, connection] of this.#startedOn) {
      const isUndecided = connection < this.#connection && !this.outcomes.has(other) && other !== id;
      if (isUndecided)
        this.violations.push(`${id} started before ${other} of an earlier connection was decided`);
    }
    this.#startedOn.set(id, this.#connection);
  }

  #outcome(id: string, outcome: Outcome): void {
    if (this.outcomes.has(id)) this.violations.push(`${id} has two outcomes`);
    this.outcomes.set(id, outcome);
    const clientId = `peer:${id}`;
    const isInThread = (this.userItems.get(clientId) ?? 0) > 0;
    if (outcome.state === 'refused' && isInThread) this.violations.push(`${id} refused, but in the thread`);
    if (outcome.state === 'answered' && !this.#isRight(clientId, outcome.text)) {
      this.violations.push(`${id} answered with ${outcome.text}, which does not cover it`);
    }
  }

  #isRight(clientId: string, text: string): boolean {
    const final = this.turns
      .flatMap((turn) => turn.items)
      .find((item) => item.type === 'agent' && item.text === text);
    return final?.covers?.has(clientId) ?? false;
  }

  get running(): TruthTurn | undefined {
    return this.turns.find((turn) => turn.status === 'inProgress');
  }

  // What people and other programs do.

  message(priority: 'now' | 'next' | 'later'): void {
    this.messages++;
    this.take({ type: 'message', id: `m${this.messages}`, priority, bytes: 10 });
  }

  /** A line typed in the pane, or another client's `turn/start`. */
  typed(): void {
    this.#input(`typed-${this.#ids++}`);
  }

  /** Esc: what was steered behind a running tool is lost without a trace. */
  escape(): void {
    this.#behindTool = [];
    this.end('interrupted');
  }

  revert(): void {
    if (this.running !== undefined || this.turns.length === 0) return;
    this.turns.pop();
    this.#notify({ type: 'reverted' });
  }

  // What the daemon does.

  handleRequest(): void {
    const clientId = this.#requests.shift();
    if (clientId === undefined) return;
    const message = 'no';
    if (this.isDraining) this.#notify({ type: 'start-refused', clientId, refusal: 'draining', message });
    else if (!this.isSteerable && this.running) {
      this.#notify({ type: 'start-refused', clientId, refusal: 'not-steerable', message });
    } else {
      const turn = this.#input(clientId);
      this.#notify({ type: 'start-accepted', clientId, turnId: turn.id });
    }
  }

  refuseRequest(): void {
    const clientId = this.#requests.shift();
    if (clientId === undefined) return;
    const refusal = this.#ids++ % 3 === 0 ? 'never' : 'not-ready';
    this.#notify({ type: 'start-refused', clientId, refusal, message: 'no' });
  }

  toolStarts(): void {
    if (this.running && !this.#behindTool.length) this.#behindTool.push('');
  }

  toolEnds(): void {
    const waiting = this.#behindTool.splice(0).filter((clientId) => clientId !== '');
    if (this.running) for (const clientId of waiting) this.#userItem(this.running, clientId);
  }

  says(phase: 'commentary' | 'final_answer'): void {
    const turn = this.running;
    if (!turn) return;
    const chain = this.turns.filter((one) => one.rootTurnId === turn.rootTurnId);
    const asked = chain
      .flatMap((one) => one.items)
      .flatMap((item) => (item.type === 'user' ? [item.clientId ?? ''] : []));
    turn.items.push({ type: 'agent', text: `${phase} ${this.#ids++}`, phase, covers: new Set(asked) });
  }

  end(status: Exclude<TurnStatus, 'inProgress'>): void {
    const turn = this.running;
    if (!turn) return;
    if (status === 'completed') this.toolEnds();
    turn.status = status;
    this.#behindTool = [];
    this.#notify({ type: 'status', status: { type: 'idle' } });
    this.#notify({ type: 'turn-ended', turnId: turn.id, status });
  }

  // What the connection does.

  connect(startedByUs: boolean): void {
    if (this.isConnected) return;
    this.isConnected = true;
    this.#connection++;
    this.isDraining = false;
    const newest = this.turns.at(-1);
    this.#notify({
      type: 'ready',
      status: this.running ? { type: 'active', waitingFor: null } : { type: 'idle' },
      settings: { model: null, effort: null, approval: 'never', sandbox: 'read-only', cwd: '/' },
      newestTurn: newest ? { id: newest.id, status: newest.status } : null,
      startedByUs,
    });
    if (startedByUs) this.#recoverable = null;
  }

  /** The connection breaks; `handled` of the requests on their way still reach the daemon. */
  cut(handled: number): void {
    if (!this.isConnected) return;
    for (let index = 0; index < handled; index++) this.handleRequest();
    this.isConnected = false;
    this.#requests = [];
    this.#frames = [];
    this.#reads = [];
    this.take({ type: 'disconnected', waitingFor: 'connection' });
  }

  /** The wrapper is killed and opened again: what it had not recorded is gone, the thread is as it is. */
  reopen(handled: number): void {
    this.cut(handled);
    this.#timers.clear();
    const open = Array.from({ length: this.messages }, (_, index) => `m${index + 1}`).filter(
      (id) => !this.outcomes.has(id),
    );
    const message = (id: string) => messageOf({ id });
    const claims = restoredClaims(
      {
        claimed: open.flatMap((id) => {
          const claim = this.#claimed.get(id);
          if (claim === undefined) return [];
          return [{ message: message(id), clientId: `peer:${id}`, ...claim, isTaken: claim.turnId !== null }];
        }),
        unclaimed: open.filter((id) => !this.#claimed.has(id)).map(message),
      },
      () => true,
      0,
    );
    this.state = initialState(claims);
  }

  /** The daemon dies with the connection; after a graceful restart it continues the interrupted turn. */
  die(handled: number, recovers: boolean): void {
    if (!this.isConnected) return;
    for (let index = 0; index < handled; index++) this.handleRequest();
    const turn = this.running;
    if (turn) turn.status = 'interrupted';
    this.#behindTool = [];
    this.#recoverable = recovers && turn ? turn : null;
    this.cut(0);
  }

  recoveryStarts(): void {
    const broken = this.#recoverable;
    if (!broken || !this.isConnected || this.running || !this.turns.includes(broken)) return;
    this.#recoverable = null;
    this.#begin(broken.rootTurnId);
  }

  deliver(): void {
    const frame = this.#frames.shift();
    if (frame !== undefined) this.take(frame);
  }

  answerRead(): void {
    const read = this.#reads.shift();
    if (read === undefined) return;
    const from = this.turns.findIndex((turn) => turn.id === read.sinceTurnId);
    const turns = this.turns
      .slice(Math.max(from, 0))
      .map((turn): Turn => ({ ...turn, items: [...turn.items], error: null }));
    this.take({ type: 'read', basis: read.basis, turns });
  }

  failRead(): void {
    const read = this.#reads.shift();
    if (read !== undefined) this.take({ type: 'read-failed', basis: read.basis });
  }

  fire(timer: Timer): void {
    if (this.#timers.delete(timer)) this.take({ type: 'timer', timer });
  }

  fireAny(): void {
    for (const timer of [...this.#timers]) this.fire(timer);
  }

  /** Lets everything come to its end without further faults. */
  drain(): void {
    this.isSteerable = true;
    if (this.isDraining) this.die(0, false);
    this.connect(true);
    for (let round = 0; round < 400; round++) {
      while (this.#frames.length > 0) this.deliver();
      this.recoveryStarts();
      while (this.#requests.length > 0) this.handleRequest();
      if (round % 3 === 2) {
        this.toolEnds();
        this.says('final_answer');
        this.end('completed');
      }
      while (this.#frames.length > 0) this.deliver();
      while (this.#reads.length > 0) this.answerRead();
      if (this.#frames.length === 0 && this.#requests.length === 0) this.fireAny();
    }
  }

  #notify(event: ThreadEvent): void {
    if (this.isConnected) this.#frames.push(event);
  }

  #input(clientId: string): TruthTurn {
    const turn = this.running ?? this.#begin();
    if (this.#behindTool.length > 0) this.#behindTool.push(clientId);
    else this.#userItem(turn, clientId);
    return turn;
  }

  #begin(root?: string): TruthTurn {
    const id = `t${this.#ids++}`;
    const turn: TruthTurn = { id, rootTurnId: root ?? id, status: 'inProgress', items: [] };
    this.turns.push(turn);
    this.#notify({ type: 'status', status: { type: 'active', waitingFor: null } });
    this.#notify({ type: 'turn-started', turnId: id });
    return turn;
  }

  #userItem(turn: TruthTurn, clientId: string): void {
    turn.items.push({ type: 'user', clientId });
    const count = (this.userItems.get(clientId) ?? 0) + 1;
    this.userItems.set(clientId, count);
    if (count > 1 && clientId.startsWith('peer:')) this.violations.push(`${clientId} is in the thread twice`);
    const outcome = this.outcomes.get(clientId.replace('peer:', ''));
    if (outcome)
      this.violations.push(`${clientId} was given to the model after its outcome ${outcome.state}`);
    this.#notify({ type: 'user-item', turnId: turn.id, clientId });
  }
}
