import type { Turn } from '../harness/harness.ts';
import { enqueue } from '../queue/order.ts';
import type { Outcome } from '../store/record.ts';
import { type Verdict, verdict } from './reply-rule.ts';
import type { Claim, Effect, ReadBasis, State, Step } from './state.ts';
import { ABSENCE_MS, IDLE_READ_MS } from './timing.ts';

/** Asks for the turns that any open claim may be in; one read at a time. */
export function readBack(state: State): Step {
  if (!state.isReady) return { state, effects: [] };
  if (state.isReading) return { state: { ...state, readAgain: true }, effects: [] };
  const oldest = state.claims[0];
  if (oldest === undefined) return { state, effects: [] };
  const due = state.claims.filter((claim) => claim.absence === 'due').map((claim) => claim.waiting.id);
  const basis: ReadBasis = { epoch: state.epoch, recovery: state.recovery, due };
  return {
    state: { ...state, isReading: true, readAgain: false },
    effects: [{ type: 'read', sinceTurnId: oldest.afterTurnId, basis }],
  };
}

/** Decides every open claim that the read-back decides; the rest waits for the next one. */
export function settle(state: State, basis: ReadBasis, turns: readonly Turn[]): Step {
  if (basis.epoch !== state.epoch) return { state, effects: [] };
  const effects: Effect[] = [];
  const open: Claim[] = [];
  let queue = state.queue;
  for (const claim of state.claims) {
    const { id } = claim.waiting;
    const seen = verdict(turns, claim.clientId);
    const found = evidence(claim, turns);
    if (found !== null) effects.push(...shown(claim, found));
    const decided = decide(claim, seen, basis, state, turns);
    if (decided === 'run') queue = enqueue(queue, claim.waiting);
    else if (decided !== null) effects.push({ type: 'outcome', id, outcome: decided });
    else open.push(stillOpen(claim, seen, found, state, turns));
  }
  // An idle thread whose turn reads as running: the history is behind the status, and no notification may follow.
  const isBehind = state.thread.type === 'idle' && turns.some((turn) => turn.status === 'inProgress');
  if (isBehind && open.length > 0) effects.push({ type: 'timer', timer: 'idle-read', delayMs: IDLE_READ_MS });
  const startsLooking = open.some((claim) => claim.absence === 'looking' && !state.claims.includes(claim));
  if (startsLooking) effects.push({ type: 'timer', timer: 'absence', delayMs: ABSENCE_MS });
  const settled: State = { ...state, queue, claims: open, isReading: false, readAgain: false };
  if (!state.readAgain) return { state: settled, effects };
  const again = readBack(settled);
  return { state: again.state, effects: [...effects, ...again.effects] };
}

/** The claim with what the read-back shows of it; the same object when that is nothing new. */
function stillOpen(
  claim: Claim,
  seen: Verdict,
  found: string | null,
  state: State,
  turns: readonly Turn[],
): Claim {
  const isMissing = seen.type === 'absent' && claim.epoch === state.epoch && isOver(claim, state, turns);
  const starts = isMissing && claim.absence === 'none';
  const absence = starts ? 'looking' : seen.type === 'absent' ? claim.absence : 'none';
  if (found === null && absence === claim.absence) return claim;
  return found === null ? { ...claim, absence } : { ...asTaken(claim, found), absence };
}

/** What is to be recorded when the thread shows a message: it was handed over, whatever the record said. */
export function shown({ waiting, clientId, afterTurnId, ifAbsent }: Claim, turnId: string): Effect[] {
  const taken: Effect = { type: 'taken', id: waiting.id, turnId };
  return ifAbsent === undefined ? [taken] : [{ type: 'claim', id: waiting.id, clientId, afterTurnId }, taken];
}

/** The claim of a message that the thread has shown in this turn. */
export function asTaken({ ifAbsent: _ifAbsent, ...claim }: Claim, turnId: string): Claim {
  return { ...claim, isTaken: true, turnId };
}

/** The turn of a user item that was read but never announced to us. */
function evidence(claim: Claim, turns: readonly Turn[]): string | null {
  if (claim.isTaken) return null;
  const turn = turns.find((one) =>
    one.items.some((item) => item.type === 'user' && item.clientId === claim.clientId),
  );
  return turn?.id ?? null;
}

function decide(
  claim: Claim,
  seen: Verdict,
  basis: ReadBasis,
  state: State,
  turns: readonly Turn[],
): Outcome | 'run' | null {
  switch (seen.type) {
    case 'answered':
      return { state: 'answered', text: seen.text, together: seen.together };
    case 'running':
      return null;
    case 'no-final':
      return { state: 'no-answer', reason: 'no-final', detail: '', partial: seen.partial };
    case 'failed': {
      const reason = seen.kind === 'usageLimitExceeded' ? 'usage-limit' : 'failed';
      return { state: 'no-answer', reason, detail: seen.message, partial: seen.partial };
    }
    case 'interrupted':
      if (basis.recovery === 'looking') return null;
      return { state: 'no-answer', reason: 'interrupted', detail: '', partial: seen.partial };
    case 'absent':
      return isOver(claim, state, turns) && isDue(claim, basis, state) ? missing(claim, state, turns) : null;
  }
}

/**
 * A missing item is only missing for good when nothing runs that it may still be waiting behind (a steer joins the
 * turn after the running tool) and, on this connection, the harness has acknowledged it.
 */
function isOver(claim: Claim, state: State, turns: readonly Turn[]): boolean {
  const runs = state.thread.type === 'active' || turns.some((turn) => turn.status === 'inProgress');
  const mayStillBeHandled = claim.epoch === state.epoch && claim.turnId === null;
  return !runs && !mayStillBeHandled;
}

function isDue(claim: Claim, basis: ReadBasis, state: State): boolean {
  if (claim.ifAbsent !== undefined) return true;
  if (claim.epoch < state.epoch) return basis.recovery === 'over';
  return basis.due.includes(claim.waiting.id);
}

function missing(claim: Claim, state: State, turns: readonly Turn[]): Outcome | 'run' {
  if (claim.ifAbsent === 'run') return 'run';
  if (claim.ifAbsent === 'expire') return { state: 'expired' };
  if (claim.isTaken) return { state: 'no-answer', reason: 'reverted', detail: '', partial: '' };
  const endedWithout = turns.some((turn) => turn.id === claim.turnId);
  return endedWithout || claim.epoch === state.epoch
    ? { state: 'not-taken', reason: 'dropped' }
    : { state: 'unknown' };
}
