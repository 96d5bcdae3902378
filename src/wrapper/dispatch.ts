import type { Waiting } from '../queue/order.ts';
import { CLIENT_ID_PREFIX } from './reply-rule.ts';
import type { Claim, Effect, State, Step } from './state.ts';

/** Hands over what may be handed over now; called after every event. */
export function dispatch(state: State): Step {
  let next = state;
  const effects: Effect[] = [];
  for (let first = next.queue[0]; first !== undefined && mayStart(next, first); first = next.queue[0]) {
    const clientId = `${CLIENT_ID_PREFIX}${first.id}`;
    const claim: Claim = {
      waiting: first,
      clientId,
      epoch: next.epoch,
      afterTurnId: next.newestTurnId,
      turnId: null,
      isTaken: false,
      absence: 'none',
    };
    next = { ...next, queue: next.queue.slice(1), claims: [...next.claims, claim] };
    effects.push({
      type: 'start',
      id: first.id,
      clientId,
      afterTurnId: claim.afterTurnId,
      epoch: claim.epoch,
    });
  }
  return { state: next, effects };
}

function mayStart(state: State, first: Waiting): boolean {
  if (state.phase !== 'serving' || !state.isReady || state.isPaused || isHeld(state)) return false;
  if (first.priority === 'now' && !first.needsIdle) return true;
  return state.thread.type === 'idle' && state.claims.every((claim) => claim.isTaken);
}

/**
 * After a reconnect nothing is started until every message of an earlier connection is decided, and not while the
 * newest turn, whoever began it, may still be continued by a recovery turn.
 */
function isHeld(state: State): boolean {
  const hasUndecided = state.claims.some((claim) => claim.epoch < state.epoch);
  return hasUndecided || (state.isNewestInterrupted && state.recovery === 'looking');
}
