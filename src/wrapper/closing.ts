import type { Outcome } from '../store/record.ts';
import type { Claim, Effect, State, Step } from './state.ts';

/** The end of the peer: every message that has no outcome gets one now. */
export function closeAll(state: State): Step {
  if (state.phase === 'closing') return { state, effects: [] };
  const queued = state.queue.map((waiting): Effect => {
    return { type: 'outcome', id: waiting.id, outcome: { state: 'not-taken', reason: 'closed' } };
  });
  const claimed = state.claims.map((claim): Effect => {
    return { type: 'outcome', id: claim.waiting.id, outcome: lastOutcome(claim) };
  });
  return {
    state: { ...state, phase: 'closing', queue: [], claims: [] },
    effects: [...claimed, ...queued],
  };
}

function lastOutcome({ isTaken, ifAbsent }: Claim): Outcome {
  if (isTaken) return { state: 'no-answer', reason: 'closed', detail: '', partial: '' };
  // Left by an earlier wrapper that never handed it over, and not looked for yet.
  return ifAbsent === undefined ? { state: 'unknown' } : { state: 'not-taken', reason: 'closed' };
}
