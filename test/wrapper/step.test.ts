import { describe, expect, it } from 'vitest';
import type {
  HarnessEvent,
  Item,
  StartRefusal,
  ThreadStatus,
  Turn,
  TurnStatus,
} from '../../src/harness/harness.ts';
import { LIMITS } from '../../src/limits.ts';
import { type Effect, type Event, initialState, type State, type Timer } from '../../src/wrapper/state.ts';
import { step } from '../../src/wrapper/step.ts';

type Ready = Partial<Extract<HarnessEvent, { type: 'ready' }>>;

/** Feeds events to `step` and keeps the effects since they were last taken. */
class Run {
  state: State = initialState();
  #effects: Effect[] = [];
  readonly #armed = new Set<Timer>();

  take(...events: Event[]): this {
    for (const event of events) {
      if (event.type === 'timer' && !this.#armed.delete(event.timer))
        throw new Error(`${event.timer} is not armed`);
      const done = step(this.state, event);
      this.state = done.state;
      this.#effects.push(...done.effects);
      for (const effect of done.effects) if (effect.type === 'timer') this.#armed.add(effect.timer);
    }
    return this;
  }

  effects<T extends Effect['type']>(type: T): Extract<Effect, { type: T }>[] {
    return this.#effects.filter((effect): effect is Extract<Effect, { type: T }> => effect.type === type);
  }

  started(): string[] {
    return this.effects('start').map((effect) => effect.id);
  }

  outcomes(): Record<string, unknown> {
    return Object.fromEntries(this.effects('outcome').map(({ id, outcome }) => [id, outcome]));
  }

  /** Answers the newest read with these turns. */
  reads(...turns: Turn[]): this {
    const read = this.effects('read').at(-1);
    if (read === undefined) throw new Error('nothing was read');
    return this.take({ type: 'read', basis: read.basis, turns });
  }
}

const idle: ThreadStatus = { type: 'idle' };
const active: ThreadStatus = { type: 'active', waitingFor: null };
const settings = { model: null, effort: null, approval: 'never', sandbox: 'read-only', cwd: '/' } as const;
const ready = (over: Ready = {}): Event => ({
  type: 'ready',
  status: idle,
  settings,
  newestTurn: null,
  startedByUs: false,
  ...over,
});
const lost: Event = { type: 'disconnected', waitingFor: 'Codex daemon' };
const message = (id: string, priority: 'now' | 'next' | 'later' = 'next', bytes = 1): Event => ({
  type: 'message',
  id,
  priority,
  bytes,
});
const status = (value: ThreadStatus): Event => ({ type: 'status', status: value });
const begins = (turnId: string): Event[] => [status(active), { type: 'turn-started', turnId }];
const ends = (turnId: string, how: TurnStatus = 'completed'): Event[] => [
  status(idle),
  { type: 'turn-ended', turnId, status: how },
];
const accepted = (id: string, turnId: string): Event => ({
  type: 'start-accepted',
  clientId: `peer:${id}`,
  turnId,
});
const evidence = (id: string, turnId: string): Event => ({
  type: 'user-item',
  turnId,
  clientId: `peer:${id}`,
});
const refused = (id: string, refusal: StartRefusal): Event => ({
  type: 'start-refused',
  clientId: `peer:${id}`,
  refusal,
  message: 'Codex says no',
});
const taken = (id: string, turnId: string): Event[] => [
  accepted(id, turnId),
  ...begins(turnId),
  evidence(id, turnId),
];

const asked = (id: string): Item => ({ type: 'user', clientId: `peer:${id}` });
const final = (text: string): Item => ({ type: 'agent', text, phase: 'final_answer' });
const turn = (id: string, how: TurnStatus, items: Item[], root = id): Turn => ({
  id,
  rootTurnId: root,
  status: how,
  error: null,
  items,
});
const answered = (text: string) => ({ state: 'answered', text, together: null });

const serving = () => new Run().take(ready());

describe('order', () => {
  it('starts one turn per message, the next one when the thread is idle again', () => {
    const run = serving().take(message('a'), message('b'));
    expect(run.started()).toEqual(['a']);
    run.take(...taken('a', 't1'));
    expect(run.started()).toEqual(['a']);
    run.take(...ends('t1'));
    expect(run.started()).toEqual(['a', 'b']);
  });

  it('lets `now` join the running turn and `later` wait for everything', () => {
    const run = serving().take(message('a'), message('l', 'later'), message('b'), message('n', 'now'));
    expect(run.started()).toEqual(['a', 'n']);
    run.take(...taken('a', 't1'), accepted('n', 't1'), evidence('n', 't1'), ...ends('t1'));
    run.take(...taken('b', 't2'), ...ends('t2'));
    expect(run.started()).toEqual(['a', 'n', 'b', 'l']);
  });

  it('starts nothing while a message is on its way without evidence, `now` excepted', () => {
    const run = serving().take(message('n', 'now'), message('a'));
    expect(run.started()).toEqual(['n']);
    run.take(accepted('n', 't1'), message('m', 'now'));
    expect(run.started()).toEqual(['n', 'm']);
  });

  it('waits for the turn of somebody else', () => {
    const run = serving().take(...begins('typed'), message('a'));
    expect(run.started()).toEqual([]);
    expect(run.take(...ends('typed')).started()).toEqual(['a']);
  });

  it('counts a start that became a steer as taken by its evidence alone', () => {
    const run = serving().take(message('a'), message('b'), ...begins('typed'), accepted('a', 'typed'));
    run.take(evidence('a', 'typed'), ...ends('typed'));
    expect(run.started()).toEqual(['a', 'b']);
  });
});

describe('a claim', () => {
  it('is answered by the read-back after its turn', () => {
    const run = serving().take(message('a'), ...taken('a', 't1'), ...ends('t1'));
    expect(run.effects('taken')).toEqual([{ type: 'taken', id: 'a', turnId: 't1' }]);
    expect(run.outcomes()).toEqual({});
    run.reads(turn('t1', 'completed', [asked('a'), final('yes')]));
    expect(run.outcomes()).toEqual({ a: answered('yes') });
    expect(run.state.claims).toEqual([]);
  });

  it('is looked for from the turn that was the newest when it was handed over', () => {
    const run = serving().take(
      ...begins('t0'),
      ...ends('t0'),
      message('a'),
      ...taken('a', 't1'),
      ...ends('t1'),
    );
    expect(run.effects('read').map((read) => read.sinceTurnId)).toEqual(['t0']);
  });

  it('comes back to the head of the queue with an error response', () => {
    const run = serving().take(message('a'), message('b'), message('n', 'now'));
    run.take(refused('a', 'not-ready'));
    expect(run.effects('withdraw')).toEqual([{ type: 'withdraw', id: 'a' }]);
    expect(run.state.queue.map((waiting) => waiting.id)).toEqual(['a', 'b']);
    run.take(evidence('n', 't1'), ...ends('t1'), { type: 'timer', timer: 'retry' });
    expect(run.started()).toEqual(['a', 'n', 'a']);
  });

  it('waits for idle when the running turn takes no input, `now` too', () => {
    const run = serving().take(...begins('review'), message('n', 'now'), refused('n', 'not-steerable'));
    run.take({ type: 'timer', timer: 'retry' });
    expect(run.started()).toEqual(['n']);
    expect(run.take(...ends('review')).started()).toEqual(['n', 'n']);
  });

  it('is held until a new connection when the daemon drains', () => {
    const run = serving().take(message('a'), refused('a', 'draining'), message('b'));
    expect(run.state).toMatchObject({ isReady: false, waitingFor: 'daemon restart' });
    expect(run.started()).toEqual(['a']);
    run.take(lost, ready());
    expect(run.started()).toEqual(['a', 'a']);
  });

  it('is refused when Codex can never take it, and after five refusals in a row', () => {
    const run = serving().take(message('a'), refused('a', 'never'));
    expect(run.state.isPaused).toBe(false);
    expect(run.outcomes()).toEqual({ a: { state: 'refused', reason: 'size', detail: 'Codex says no' } });
    run.take(message('b'));
    for (let round = 0; round < 4; round++)
      run.take(refused('b', 'not-ready'), { type: 'timer', timer: 'retry' });
    run.take(refused('b', 'not-ready'));
    expect(run.outcomes()).toMatchObject({ b: { state: 'refused', reason: 'harness' } });
    expect(run.started()).toEqual(['a', 'b', 'b', 'b', 'b', 'b']);
  });

  it('without a response stays claimed: nothing is started again', () => {
    const run = serving().take(message('a'), lost);
    expect(run.state.claims).toHaveLength(1);
    expect(run.effects('withdraw')).toEqual([]);
  });
});

describe('a message that Codex acknowledged and lost', () => {
  const behindTool = () =>
    serving().take(...begins('t1'), message('n', 'now'), accepted('n', 't1'), ...ends('t1', 'interrupted'));
  const ended = turn('t1', 'interrupted', []);

  it('is looked for in newer turns for two seconds, then not taken', () => {
    const run = behindTool().reads(ended);
    expect(run.outcomes()).toEqual({});
    expect(run.effects('timer')).toContainEqual({ type: 'timer', timer: 'absence', delayMs: 2_000 });
    run.take({ type: 'timer', timer: 'absence' }).reads(ended);
    expect(run.outcomes()).toEqual({ n: { state: 'not-taken', reason: 'dropped' } });
  });

  it('is found there when it turns up', () => {
    const run = behindTool().reads(ended).take({ type: 'timer', timer: 'absence' });
    run.reads(ended, turn('t2', 'completed', [asked('n'), final('late')]));
    expect(run.outcomes()).toEqual({ n: answered('late') });
  });

  it('is not given up by a read that began before the two seconds were over', () => {
    const run = behindTool().reads(ended).take({ type: 'turn-ended', turnId: 'x', status: 'completed' });
    run.take({ type: 'timer', timer: 'absence' }).reads(ended);
    expect(run.outcomes()).toEqual({});
    run.reads(ended);
    expect(run.outcomes()).toEqual({ n: { state: 'not-taken', reason: 'dropped' } });
  });

  it('is not given up while a turn runs that it may be waiting behind', () => {
    const run = behindTool()
      .reads(ended)
      .take(...begins('t2'), { type: 'timer', timer: 'absence' });
    run.reads(ended, turn('t2', 'inProgress', []));
    expect(run.outcomes()).toEqual({});
  });

  it('is not given up while its acknowledgement is still to come', () => {
    const run = serving().take(
      message('a'),
      message('n', 'now'),
      ...begins('t1'),
      evidence('n', 't1'),
      ...ends('t1'),
    );
    run.reads(turn('t1', 'completed', [asked('n'), final('yes')]));
    expect(run.effects('timer').map((effect) => effect.timer)).not.toContain('absence');
    expect(run.outcomes()).toEqual({ n: answered('yes') });
  });

  it('that was taken back at the terminal after its evidence says so', () => {
    const run = serving().take(message('a'), ...taken('a', 't1'), ...ends('t1', 'interrupted'));
    run.take({ type: 'reverted' }).reads().take({ type: 'timer', timer: 'absence' });
    run.reads().reads();
    expect(run.outcomes()).toMatchObject({ a: { state: 'no-answer', reason: 'reverted' } });
  });
});

describe('after a reconnect', () => {
  const broken = turn('t1', 'interrupted', [asked('a')]);
  const interrupted = { id: 't1', status: 'interrupted' } as const;
  const midTurn = () => serving().take(message('a'), ...taken('a', 't1'), message('b'), lost);

  it('nothing is started until what was claimed before is decided', () => {
    const run = midTurn().take(ready({ newestTurn: interrupted }), message('n', 'now'));
    run.reads(broken);
    expect(run.started()).toEqual(['a']);
    run.take(...begins('t2'), ...ends('t2')).reads(broken, turn('t2', 'completed', [final('done')], 't1'));
    expect(run.outcomes()).toEqual({ a: answered('done') });
    expect(run.started()).toEqual(['a', 'n']);
  });

  it('a recovery turn is waited for five seconds, and then as long as it runs', () => {
    const run = midTurn()
      .take(ready({ newestTurn: interrupted }))
      .reads(broken);
    expect(run.effects('timer')).toContainEqual({ type: 'timer', timer: 'recovery', delayMs: 5_000 });
    run.take({ type: 'timer', timer: 'recovery' }).reads(broken, turn('t2', 'inProgress', [], 't1'));
    expect(run.outcomes()).toEqual({});
    expect(run.started()).toEqual(['a']);
  });

  it('an interrupted turn that nobody recovers is a note after five seconds', () => {
    const run = midTurn()
      .take(ready({ newestTurn: interrupted }))
      .reads(broken);
    run.take({ type: 'timer', timer: 'recovery' }).reads(broken);
    expect(run.outcomes()).toMatchObject({ a: { state: 'no-answer', reason: 'interrupted' } });
    expect(run.started()).toEqual(['a', 'b']);
  });

  it('is decided at once when we started the daemon: then nothing is recovered', () => {
    const run = midTurn()
      .take(ready({ newestTurn: interrupted, startedByUs: true }))
      .reads(broken);
    expect(run.outcomes()).toMatchObject({ a: { state: 'no-answer', reason: 'interrupted' } });
    expect(run.started()).toEqual(['a', 'b']);
  });

  it('a turn that completed meanwhile is answered at once', () => {
    const done = turn('t1', 'completed', [asked('a'), final('yes')]);
    const run = midTurn()
      .take(ready({ newestTurn: { id: 't1', status: 'completed' } }))
      .reads(done);
    expect(run.outcomes()).toEqual({ a: answered('yes') });
    expect(run.started()).toEqual(['a', 'b']);
  });

  it('the queue waits as well when the interrupted turn was typed at the terminal', () => {
    const run = serving().take(lost, ready({ newestTurn: interrupted }), message('a'));
    expect(run.started()).toEqual([]);
    expect(run.take({ type: 'timer', timer: 'recovery' }).started()).toEqual(['a']);
  });

  it('a first connection waits for nothing', () => {
    const run = new Run().take(ready({ newestTurn: interrupted }), message('a'));
    expect(run.started()).toEqual(['a']);
  });

  it('a message without a trace is unknown, not to be sent again blindly', () => {
    const run = serving()
      .take(message('a'), lost, ready({ startedByUs: true }))
      .reads();
    expect(run.outcomes()).toEqual({ a: { state: 'unknown' } });
  });

  it('a message whose acknowledged turn ended without it is not taken', () => {
    const run = serving().take(message('a'), accepted('a', 't1'), lost, ready({ startedByUs: true }));
    run.reads(turn('t1', 'interrupted', []));
    expect(run.outcomes()).toEqual({ a: { state: 'not-taken', reason: 'dropped' } });
  });

  it('a read-back of the old connection decides nothing', () => {
    const run = serving().take(message('a'), ...taken('a', 't1'), ...ends('t1'));
    const old = run.effects('read').at(-1);
    run.take(lost, ready({ status: active, newestTurn: { id: 't1', status: 'inProgress' } }));
    if (old)
      run.take({
        type: 'read',
        basis: old.basis,
        turns: [turn('t1', 'completed', [asked('a'), final('x')])],
      });
    expect(run.outcomes()).toEqual({});
  });
});

describe('a lost `turn/completed`', () => {
  it('is made up for by the idle status and a read-back a second later', () => {
    const run = serving().take(message('a'), ...taken('a', 't1'), status(idle));
    expect(run.effects('read')).toEqual([]);
    run
      .take({ type: 'timer', timer: 'idle-read' })
      .reads(turn('t1', 'completed', [asked('a'), final('yes')]));
    expect(run.outcomes()).toEqual({ a: answered('yes') });
  });

  it('is read again while the history is behind the status', () => {
    const run = serving().take(message('a'), ...taken('a', 't1'), status(idle), {
      type: 'timer',
      timer: 'idle-read',
    });
    const before = run.effects('timer').length;
    run.reads(turn('t1', 'inProgress', [asked('a')]));
    expect(run.effects('timer').slice(before)).toEqual([
      { type: 'timer', timer: 'idle-read', delayMs: 1_000 },
    ]);
  });

  it('a read-back that failed is repeated', () => {
    const run = serving().take(message('a'), ...taken('a', 't1'), ...ends('t1'));
    const [read] = run.effects('read');
    if (read) run.take({ type: 'read-failed', basis: read.basis });
    run
      .take({ type: 'timer', timer: 'read-again' })
      .reads(turn('t1', 'completed', [asked('a'), final('yes')]));
    expect(run.outcomes()).toEqual({ a: answered('yes') });
  });
});

describe('a note says why', () => {
  it.each([
    ['usageLimitExceeded', 'usage-limit'],
    ['internalServerError', 'failed'],
  ])('%s is %s with the words of Codex', (kind, reason) => {
    const failed = {
      ...turn('t1', 'failed', [asked('a'), final('half')]),
      error: { message: 'sorry', kind },
    };
    const run = serving()
      .take(message('a'), ...taken('a', 't1'), ...ends('t1', 'failed'))
      .reads(failed);
    expect(run.outcomes()).toEqual({ a: { state: 'no-answer', reason, detail: 'sorry', partial: 'half' } });
  });
});

describe('the end', () => {
  it('gives everything open its outcome, once', () => {
    const run = serving().take(message('a'), ...taken('a', 't1'), message('n', 'now'), message('b'));
    run.take({ type: 'close' }, { type: 'gone', cause: 'archived' });
    expect(run.effects('outcome')).toHaveLength(3);
    expect(run.outcomes()).toMatchObject({
      a: { state: 'no-answer', reason: 'closed' },
      n: { state: 'unknown' },
      b: { state: 'not-taken', reason: 'closed' },
    });
  });

  it('takes nothing more', () => {
    const run = serving().take({ type: 'close' }, message('a'));
    expect(run.outcomes()).toEqual({ a: { state: 'not-taken', reason: 'closed' } });
    expect(run.started()).toEqual([]);
  });
});

describe('a full queue', () => {
  it('refuses what is past the number of messages', () => {
    const run = serving().take(...begins('typed'));
    for (let index = 0; index <= LIMITS.queueMessages; index++) run.take(message(`m${index}`));
    expect(Object.keys(run.outcomes())).toEqual([`m${LIMITS.queueMessages}`]);
    expect(run.state.queue).toHaveLength(LIMITS.queueMessages);
  });

  it('refuses what is past the number of bytes', () => {
    const run = serving().take(...begins('typed'), message('a', 'next', LIMITS.queueBytes), message('b'));
    expect(run.outcomes()).toMatchObject({ b: { state: 'refused', reason: 'queue-full' } });
  });
});

describe('while the daemon is away', () => {
  it('says of what is open when the connection breaks that it waits', () => {
    expect(serving().take(lost).effects('message-waits')).toEqual([]);
    expect(serving().take(message('a'), lost).effects('message-waits')).toHaveLength(1);
    expect(
      serving()
        .take(...begins('typed'), message('a'), lost)
        .effects('message-waits'),
    ).toHaveLength(1);
  });

  it('says once per message that something waits', () => {
    const run = serving().take(lost, message('a'));
    expect(run.effects('message-waits')).toHaveLength(1);
    expect(run.take(ready()).started()).toEqual(['a']);
  });
});
