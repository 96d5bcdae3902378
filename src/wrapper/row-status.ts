import type { State } from './state.ts';

/** The part of our row that follows the thread. */
export interface RowStatus {
  readonly status: 'idle' | 'busy' | 'waiting';
  /** Claude's word for what a waiting session waits for, or why a busy one makes no progress. */
  readonly waitingFor: string | null;
}

/** What our row says: `waiting` for a person, `busy` while anything runs, waits or cannot be taken, else `idle`. */
export function rowStatus(state: State): RowStatus {
  if (!state.isReady) return { status: 'busy', waitingFor: state.waitingFor };
  if (state.thread.type === 'active' && state.thread.waitingFor !== null) {
    return { status: 'waiting', waitingFor: state.thread.waitingFor };
  }
  const hasWork = state.thread.type === 'active' || state.queue.length > 0 || state.claims.length > 0;
  return { status: hasWork ? 'busy' : 'idle', waitingFor: null };
}
