import type { Outcome } from '../store/record.ts';
import type { Effect, State, Step } from './state.ts';

/** The end of the peer: every message that has no outcome gets one now. */
export function closeAll(state: State): Step {
  if (state.phase === 'closing') return { state, effects: [] };
  const queued = state.queue.map((waiting): Effect => {
    return { type: 'outcome', id: waiting.id, outcome: { state: 'not-taken', reason: 'closed' } };
  });
  const claimed = state.claims.map((claim): Effect => {
    const outcome: Outcome = claim.isTaken
      ? { state: 'no-answer', reason: 'closed', detail: '', partial: '' }
      : { state: 'unknown' };
    return { type: 'outcome', id: claim.waiting.id, outcome };
  });
  return {
    state: { ...state, phase: 'closing', queue: [], claims: [] },
    effects: [...claimed, ...queued],
  };
}
