import type {
  HarnessEvent,
  HarnessThread,
  Item,
  StartRefusal,
  ThreadSettings,
  ToolResult,
  Turn,
} from '../src/harness/harness.ts';

/** What the model of a {@link FakeThread} does with a message: an answer, or nothing until `finish`. */
export type Script = (text: string) => string | null;

type Writable<T> = { -readonly [K in keyof T]: T[K] };
type OpenTurn = Writable<Turn> & { items: Item[] };

const SETTINGS: ThreadSettings = {
  model: 'fake',
  effort: null,
  approval: 'never',
  sandbox: 'read-only',
  cwd: '/',
};
/** A wrapper reads back from the newest turn it knew of. */
const KEPT_TURNS = 64;

/** A harness thread of one process, on a script. Like the real one it tells what happens in order, and never at once. */
export class FakeThread implements HarnessThread {
  readonly id = '01a22e20-0000-7000-8000-000000000001';
  readonly harness = 'codex';
  readonly version = '0.0.0';
  readonly pane = { file: '/bin/true', args: [], cwd: '/', env: {} };
  /** Every text it was given, oldest first. */
  readonly given: string[] = [];
  /** What the next starts are refused with; null accepts them. */
  refusal: StartRefusal | null = null;
  /** So many of the next reads fail. */
  failingReads = 0;
  readonly #script: Script;
  #settings = SETTINGS;
  #turns: OpenTurn[] = [];
  #turnCount = 0;
  #isConnected = false;
  #listener: (event: HarnessEvent) => void = () => {};

  constructor(script: Script = (text) => `echo: ${text}`) {
    this.#script = script;
  }

  listen(listener: (event: HarnessEvent) => void): void {
    this.#listener = listener;
  }

  /** Connects, also again after `disconnect`. */
  connect(): void {
    this.#isConnected = true;
    const newest = this.#turns.at(-1);
    this.#tell({
      type: 'ready',
      status: this.#running === undefined ? { type: 'idle' } : { type: 'active', waitingFor: null },
      settings: this.#settings,
      newestTurn: newest === undefined ? null : { id: newest.id, status: newest.status },
      startedByUs: false,
    });
  }

  /** Somebody gives the thread other settings. */
  change(settings: Partial<ThreadSettings>): void {
    this.#settings = { ...this.#settings, ...settings };
    this.#tell({ type: 'settings', settings: this.#settings });
  }

  /** The connection is gone, the turn goes on. */
  disconnect(): void {
    this.#tell({ type: 'disconnected', waitingFor: 'daemon' });
    this.#isConnected = false;
  }

  start(clientId: string, text: string): void {
    setImmediate(() => this.#start(clientId, text));
  }

  /** Somebody else begins a turn, or joins the one that runs. */
  typed(): void {
    const turn = this.#running ?? this.#begin();
    turn.items.push({ type: 'user', clientId: null });
    this.#tell({ type: 'user-item', turnId: turn.id, clientId: null });
  }

  /** Ends the running turn: with this answer, or interrupted when there is none. */
  finish(answer: string | null): void {
    const turn = this.#running;
    if (turn === undefined) return;
    if (answer !== null) turn.items.push({ type: 'agent', text: answer, phase: 'final_answer' });
    turn.status = answer === null ? 'interrupted' : 'completed';
    this.#tell({ type: 'status', status: { type: 'idle' } });
    this.#tell({ type: 'turn-ended', turnId: turn.id, status: turn.status });
  }

  async readTurns(sinceTurnId: string | null): Promise<readonly Turn[]> {
    if (!this.#isConnected) throw new Error('not connected');
    if (this.failingReads > 0) {
      this.failingReads--;
      throw new Error('cannot be read now');
    }
    const since = this.#turns.findIndex(({ id }) => id === sinceTurnId);
    return this.#turns.slice(Math.max(0, since)).map((turn) => ({ ...turn, items: [...turn.items] }));
  }

  async mcpTools(): Promise<null> {
    return null;
  }

  answerTool(_callId: string, _result: ToolResult): boolean {
    return false;
  }

  paneAttached(_isAttached: boolean): void {}

  messageWaits(): void {}

  async close(): Promise<void> {
    this.#isConnected = false;
  }

  get #running(): OpenTurn | undefined {
    return this.#turns.find(({ status }) => status === 'inProgress');
  }

  #start(clientId: string, text: string): void {
    if (!this.#isConnected) return;
    if (this.refusal !== null) {
      return this.#tell({ type: 'start-refused', clientId, refusal: this.refusal, message: 'scripted' });
    }
    this.given.push(text);
    const turn = this.#running ?? this.#begin();
    turn.items.push({ type: 'user', clientId });
    this.#tell({ type: 'start-accepted', clientId, turnId: turn.id });
    this.#tell({ type: 'user-item', turnId: turn.id, clientId });
    const answer = this.#script(text);
    if (answer !== null) this.finish(answer);
  }

  #begin(): OpenTurn {
    const id = `turn-${++this.#turnCount}`;
    const turn: OpenTurn = { id, rootTurnId: id, status: 'inProgress', error: null, items: [] };
    this.#turns = [...this.#turns.slice(1 - KEPT_TURNS), turn];
    this.#tell({ type: 'status', status: { type: 'active', waitingFor: null } });
    this.#tell({ type: 'turn-started', turnId: id });
    return turn;
  }

  #tell(event: HarnessEvent): void {
    if (this.#isConnected) this.#listener(event);
  }
}
