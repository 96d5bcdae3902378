import { describe, expect, it } from 'vitest';
import type { Item, ThreadStatus, Turn, TurnStatus } from '../../src/harness/harness.ts';
import type { Message } from '../../src/store/record.ts';
import { RUN_WITHIN_MS, restoredClaims } from '../../src/wrapper/restore.ts';
import { type Claim, type Effect, type Event, initialState, type State } from '../../src/wrapper/state.ts';
import { step } from '../../src/wrapper/step.ts';
import { messageOf } from './message.ts';

const NOW = 10 * RUN_WITHIN_MS;
const message = (id: string, ageMs = 0) =>
  messageOf({ id, msgId: id, afterTurnId: 't0', receivedAtMs: NOW - ageMs });
const claimed = (id: string, isTaken = false) => ({
  message: message(id),
  clientId: `peer:${id}`,
  afterTurnId: 't0',
  turnId: isTaken ? 't1' : null,
  isTaken,
});
const claims = (
  open: { claimed?: ReturnType<typeof claimed>[]; unclaimed?: Message[] },
  isWaiting = true,
): Claim[] => restoredClaims({ claimed: [], unclaimed: [], ...open }, () => isWaiting, NOW);

const idle: ThreadStatus = { type: 'idle' };
const settings = { model: null, effort: null, approval: 'never', sandbox: 'read-only', cwd: '/' } as const;
const asked = (id: string): Item => ({ type: 'user', clientId: `peer:${id}` });
const final = (text: string): Item => ({ type: 'agent', text, phase: 'final_answer' });
const turn = (id: string, status: TurnStatus, items: Item[], rootTurnId = id): Turn => ({
  id,
  rootTurnId,
  status,
  error: null,
  items,
});

/** A wrapper that opens with these claims, up to its first connection. */
class Reopened {
  state: State;
  readonly effects: Effect[] = [];

  constructor(open: Claim[], startedByUs = false, status: ThreadStatus = idle) {
    this.state = initialState(open);
    this.take({ type: 'ready', status, settings, newestTurn: null, startedByUs });
  }

  take(event: Event): this {
    const done = step(this.state, event);
    this.state = done.state;
    this.effects.push(...done.effects);
    return this;
  }

  reads(...turns: Turn[]): this {
    const read = this.effects.findLast((effect) => effect.type === 'read');
    if (read?.type !== 'read') throw new Error('nothing was read');
    return this.take({ type: 'read', basis: read.basis, turns });
  }

  get started(): string[] {
    return this.effects.flatMap((effect) => (effect.type === 'start' ? [effect.id] : []));
  }

  get outcomes(): Record<string, unknown> {
    const decided = this.effects.flatMap((effect) =>
      effect.type === 'outcome' ? [[effect.id, effect.outcome]] : [],
    );
    return Object.fromEntries(decided);
  }
}

describe('a wrapper that opens again', () => {
  it('reads the thread from where its oldest open message may be, before it starts anything', () => {
    const run = new Reopened(claims({ claimed: [claimed('a')] })).take({
      type: 'message',
      id: 'new',
      priority: 'now',
      bytes: 1,
    });
    expect(run.effects.filter((effect) => effect.type === 'read')).toMatchObject([{ sinceTurnId: 't0' }]);
    expect(run.started).toEqual([]);
  });

  it('answers what was answered while nobody was there', () => {
    const run = new Reopened(claims({ claimed: [claimed('a', true)] }));
    run.reads(turn('t1', 'completed', [asked('a'), final('yes')]));
    expect(run.outcomes).toEqual({ a: { state: 'answered', text: 'yes', together: null } });
  });

  it('waits for a turn that still runs', () => {
    const run = new Reopened(claims({ claimed: [claimed('a', true)] }), false, {
      type: 'active',
      waitingFor: null,
    });
    run.reads(turn('t1', 'inProgress', [asked('a')]));
    expect(run.outcomes).toEqual({});
  });

  it('waits five seconds for a recovery turn', () => {
    const run = new Reopened(claims({ claimed: [claimed('a', true)] }));
    const broken = turn('t1', 'interrupted', [asked('a')]);
    run.reads(broken);
    expect(run.outcomes).toEqual({});
    expect(run.effects).toContainEqual({ type: 'timer', timer: 'recovery', delayMs: 5_000 });
    run.take({ type: 'timer', timer: 'recovery' }).reads(broken);
    expect(run.outcomes).toMatchObject({ a: { state: 'no-answer', reason: 'interrupted' } });
  });

  it('finds a claimed message in the thread although its evidence was never recorded', () => {
    const run = new Reopened(claims({ claimed: [claimed('a')] }));
    run.reads(turn('t1', 'completed', [asked('a'), final('yes')]));
    expect(run.effects).toContainEqual({ type: 'taken', id: 'a', turnId: 't1' });
    expect(run.outcomes).toMatchObject({ a: { state: 'answered' } });
  });

  it('cannot tell of a claimed message without a trace, and never gives it again', () => {
    const run = new Reopened(claims({ claimed: [claimed('a')] }), true).reads();
    expect(run.outcomes).toEqual({ a: { state: 'unknown' } });
    expect(run.started).toEqual([]);
  });

  it('runs what was never handed over, in order, and as a claim of this connection', () => {
    const run = new Reopened(claims({ unclaimed: [message('a'), message('b')] })).reads();
    expect(run.started).toEqual(['a']);
    expect(run.state.queue.map((waiting) => waiting.id)).toEqual(['b']);
    expect(run.state.claims).toMatchObject([{ clientId: 'peer:a', epoch: 1 }]);
    expect(run.outcomes).toEqual({});
  });

  it('does not give again what the record says was never handed over, when the thread has it', () => {
    const run = new Reopened(claims({ unclaimed: [message('a')] }));
    run.reads(turn('t1', 'completed', [asked('a'), final('yes')]));
    expect(run.started).toEqual([]);
    expect(run.outcomes).toMatchObject({ a: { state: 'answered', text: 'yes' } });
  });

  it('expires what is older than an hour', () => {
    const run = new Reopened(
      claims({ unclaimed: [message('old', RUN_WITHIN_MS), message('young', RUN_WITHIN_MS - 1)] }),
    );
    run.reads();
    expect(run.outcomes).toEqual({ old: { state: 'expired' } });
    expect(run.started).toEqual(['young']);
  });

  it('expires what nobody waits for any more', () => {
    const run = new Reopened(claims({ unclaimed: [message('a')] }, false)).reads();
    expect(run.outcomes).toEqual({ a: { state: 'expired' } });
    expect(run.started).toEqual([]);
  });

  it('decides nothing about a missing message while a turn runs that it may be waiting behind', () => {
    const run = new Reopened(claims({ claimed: [claimed('a')], unclaimed: [message('b')] }), true, {
      type: 'active',
      waitingFor: null,
    });
    run.reads(turn('t9', 'inProgress', []));
    expect(run.outcomes).toEqual({});
    expect(run.started).toEqual([]);
  });

  it('that is closed before it has looked gives back what was never handed over', () => {
    const run = new Reopened(
      claims({ claimed: [claimed('a'), claimed('b', true)], unclaimed: [message('c')] }),
    );
    run.take({ type: 'close' });
    expect(run.outcomes).toMatchObject({
      a: { state: 'unknown' },
      b: { state: 'no-answer', reason: 'closed' },
      c: { state: 'not-taken', reason: 'closed' },
    });
  });
});
