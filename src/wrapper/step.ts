import type { HarnessEvent } from '../harness/harness.ts';
import { LIMITS } from '../limits.ts';
import { enqueue, queuedBytes } from '../queue/order.ts';
import { closeAll } from './closing.ts';
import { dispatch } from './dispatch.ts';
import { asTaken, readBack, settle, shown } from './settle.ts';
import type { Claim, Effect, Event, State, Step, Timer } from './state.ts';
import { IDLE_READ_MS, READ_AGAIN_MS, RECOVERY_MS, RETRY_MS } from './timing.ts';

/** So many refusals of one message in a row, and it is the message. */
const REFUSALS = 5;

/**
 * One transition of a peer: what happened, in order, becomes the next state and what is to be done. Pure; the shell
 * in `shell.ts` performs the effects.
 */
export function step(state: State, event: Event): Step {
  const handled = handle(state, event);
  const dispatched = dispatch(handled.state);
  return { state: dispatched.state, effects: [...handled.effects, ...dispatched.effects] };
}

function handle(state: State, event: Event): Step {
  switch (event.type) {
    case 'message':
      return onMessage(state, event);
    case 'ready':
      return onReady(state, event);
    case 'disconnected':
      return onDisconnected(state, event);
    case 'waiting':
      return only({ ...state, isReady: false, waitingFor: event.waitingFor });
    case 'status':
      return onStatus(state, event);
    case 'turn-started':
      return only({ ...state, newestTurnId: event.turnId, isNewestInterrupted: false });
    case 'user-item':
      return onUserItem(state, event);
    case 'turn-ended':
      return state.claims.length > 0 ? readBack(state) : only(state);
    case 'start-accepted':
      return only(
        withClaim(state, event.clientId, (claim) => ({ ...claim, turnId: claim.turnId ?? event.turnId })),
      );
    case 'start-refused':
      return onStartRefused(state, event);
    case 'settings':
      return only({ ...state, settings: event.settings });
    case 'reverted':
      return state.claims.length > 0 ? readBack(state) : only(state);
    case 'read':
      return settle(state, event.basis, event.turns);
    case 'read-failed':
      return event.basis.epoch === state.epoch ? onReadFailed(state) : only(state);
    case 'timer':
      return onTimer(state, event.timer);
    case 'gone':
    case 'close':
      return closeAll(state);
  }
}

/** Whether one more message of so many bytes would go past the queue's caps. */
export function isFull({ queue }: State, bytes: number): boolean {
  return queue.length >= LIMITS.queueMessages || queuedBytes(queue) + bytes > LIMITS.queueBytes;
}

function onMessage(state: State, event: Event & { type: 'message' }): Step {
  const { id, priority, bytes } = event;
  if (state.phase === 'closing') {
    return { state, effects: [{ type: 'outcome', id, outcome: { state: 'not-taken', reason: 'closed' } }] };
  }
  if (isFull(state, bytes)) {
    const detail = `${state.queue.length} messages are waiting`;
    return {
      state,
      effects: [{ type: 'outcome', id, outcome: { state: 'refused', reason: 'queue-full', detail } }],
    };
  }
  const waiting = {
    id,
    priority,
    bytes,
    seq: state.seq,
    isReturned: false,
    needsIdle: false,
    refusals: 0,
  };
  return {
    state: { ...state, seq: state.seq + 1, queue: enqueue(state.queue, waiting) },
    effects: state.isReady ? [] : [{ type: 'message-waits' }],
  };
}

/**
 * A new connection. What was claimed on an earlier one is decided by read-back before anything is started, else a
 * queued message is steered into the recovery turn and its sender gets the answer of another (Codex 0.171.0).
 */
function onReady(state: State, event: HarnessEvent & { type: 'ready' }): Step {
  const isReconnect = state.epoch > 0;
  const isNewestInterrupted = isReconnect && event.newestTurn?.status === 'interrupted';
  const mayRecover = !event.startedByUs && (state.claims.length > 0 || isNewestInterrupted);
  const next: State = {
    ...state,
    phase: state.phase === 'opening' ? 'serving' : state.phase,
    epoch: state.epoch + 1,
    isReady: true,
    waitingFor: null,
    thread: event.status,
    settings: event.settings,
    newestTurnId: event.newestTurn?.id ?? null,
    isNewestInterrupted,
    recovery: mayRecover ? 'looking' : 'over',
    isPaused: false,
    isReading: false,
    readAgain: false,
  };
  const read = next.claims.length > 0 ? readBack(next) : only(next);
  return mayRecover ? also(read, { type: 'timer', timer: 'recovery', delayMs: RECOVERY_MS }) : read;
}

/** What waits now is a reason to start a daemon that somebody stopped, as much as what comes later. */
function onDisconnected(state: State, event: HarnessEvent & { type: 'disconnected' }): Step {
  const { waitingFor } = event;
  const next = { ...state, isReady: false, waitingFor, isReading: false, readAgain: false };
  const isOwed = state.queue.length > 0 || state.claims.length > 0;
  return isOwed ? also(only(next), { type: 'message-waits' }) : only(next);
}

function onStatus(state: State, event: HarnessEvent & { type: 'status' }): Step {
  const next = { ...state, thread: event.status };
  const mayBeDone = event.status.type === 'idle' && state.claims.length > 0;
  return mayBeDone
    ? also(only(next), { type: 'timer', timer: 'idle-read', delayMs: IDLE_READ_MS })
    : only(next);
}

function onUserItem(state: State, event: HarnessEvent & { type: 'user-item' }): Step {
  const claim = state.claims.find((one) => one.clientId === event.clientId);
  if (claim === undefined || claim.isTaken) return only(state);
  const next = withClaim(state, claim.clientId, (one) => asTaken(one, event.turnId));
  return also(only(next), ...shown(claim, event.turnId));
}

/** Only this, an error response to our own request, withdraws a claim. */
function onStartRefused(state: State, event: HarnessEvent & { type: 'start-refused' }): Step {
  const claim = state.claims.find((one) => one.clientId === event.clientId);
  if (claim === undefined) return only(state);
  const { id, refusals } = claim.waiting;
  const withoutClaim = { ...state, claims: state.claims.filter((one) => one !== claim) };
  const isHopeless = event.refusal === 'never' || (event.refusal === 'not-ready' && refusals + 1 >= REFUSALS);
  if (isHopeless) {
    const reason = event.refusal === 'never' ? 'size' : 'harness';
    const outcome = { state: 'refused', reason, detail: event.message } as const;
    return also(only(withoutClaim), { type: 'withdraw', id }, { type: 'outcome', id, outcome });
  }
  const returned = {
    ...claim.waiting,
    isReturned: true,
    needsIdle: claim.waiting.needsIdle || event.refusal === 'not-steerable',
    refusals: event.refusal === 'not-ready' ? refusals + 1 : refusals,
  };
  const next = {
    ...withoutClaim,
    isReady: state.isReady && event.refusal !== 'draining',
    waitingFor: event.refusal === 'draining' ? 'daemon restart' : state.waitingFor,
    isPaused: event.refusal !== 'draining',
    queue: enqueue(state.queue, returned),
  };
  const retry: Effect[] = next.isPaused ? [{ type: 'timer', timer: 'retry', delayMs: RETRY_MS }] : [];
  return also(only(next), { type: 'withdraw', id }, ...retry);
}

function onTimer(state: State, timer: Timer): Step {
  switch (timer) {
    case 'recovery': {
      const next: State = { ...state, recovery: 'over' };
      return next.claims.length > 0 ? readBack(next) : only(next);
    }
    case 'absence': {
      const claims = state.claims.map(
        (claim): Claim => (claim.absence === 'looking' ? { ...claim, absence: 'due' } : claim),
      );
      return claims.length > 0 ? readBack({ ...state, claims }) : only(state);
    }
    case 'retry':
      return only({ ...state, isPaused: false });
    case 'idle-read':
      return state.claims.length > 0 && state.thread.type === 'idle' ? readBack(state) : only(state);
    case 'read-again':
      return state.claims.length > 0 ? readBack(state) : only(state);
  }
}

function onReadFailed(state: State): Step {
  const next = { ...state, isReading: false, readAgain: false };
  const isWorthIt = state.isReady && state.claims.length > 0;
  return isWorthIt
    ? also(only(next), { type: 'timer', timer: 'read-again', delayMs: READ_AGAIN_MS })
    : only(next);
}

function withClaim(state: State, clientId: string, change: (claim: Claim) => Claim): State {
  return {
    ...state,
    claims: state.claims.map((claim) => (claim.clientId === clientId ? change(claim) : claim)),
  };
}

function only(state: State): Step {
  return { state, effects: [] };
}

function also(done: Step, ...effects: Effect[]): Step {
  return { state: done.state, effects: [...done.effects, ...effects] };
}
