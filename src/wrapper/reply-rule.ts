import type { Item, Turn } from '../harness/harness.ts';

/** Who else's text stood before the final that answers a message as well. */
export type Together = 'message' | 'typed';

/** What a read-back says about one message. */
export type Verdict =
  /** No turn that was read holds its user item. */
  | { readonly type: 'absent' }
  /** Its turn, or the recovery turn that continues it, still runs. */
  | { readonly type: 'running' }
  | { readonly type: 'answered'; readonly text: string; readonly together: Together | null }
  /** Its turn completed and said nothing final after it. */
  | { readonly type: 'no-final'; readonly partial: string }
  /** Its turn was interrupted; a recovery turn may still come when a daemon was restarted. */
  | { readonly type: 'interrupted'; readonly partial: string }
  /** Its turn failed, with Codex's own words. */
  | { readonly type: 'failed'; readonly message: string; readonly kind: string; readonly partial: string };

/** Client ids of our own user items begin so; the TUI's are bare UUIDs (Codex 0.171.0). */
export const CLIENT_ID_PREFIX = 'peer:';

/** Name of the tool output we put into a running turn ourselves. */
const OWN_TOOL_OUTPUT = 'peer';

/**
 * The reply rule: reads what became of the message with this client id out of the thread's turns.
 *
 * A message's run is the items after its user item up to the next user item, or up to our own tool output that
 * follows a final. A run with a final that something closed is answered whatever becomes of the turn; the last run
 * of a turn needs the turn completed. Without a final of its own the message shares the next final of the same
 * completed turn. A turn that did not complete is continued by a later turn with the same root, which holds no user
 * item of the message.
 *
 * @param turns oldest first, from the message's turn or earlier to the newest
 */
export function verdict(turns: readonly Turn[], clientId: string): Verdict {
  const at = find(turns, clientId);
  if (at === null) return { type: 'absent' };
  const [turnIndex, itemIndex] = at;
  const first = turns[turnIndex];
  if (first === undefined) return { type: 'absent' };
  let ended = readFrom(first, itemIndex + 1);
  let partial = ended.type === 'answered' || ended.type === 'running' ? '' : ended.partial;
  let together = lastAsker(first.items.slice(itemIndex + 1));
  for (const turn of turns.slice(turnIndex + 1)) {
    if (ended.type !== 'interrupted' && ended.type !== 'failed') break;
    if (turn.rootTurnId !== first.rootTurnId) continue;
    ended = readFrom(turn, 0);
    if (ended.type === 'answered') return { ...ended, together: ended.together ?? together };
    if (ended.type === 'running') break;
    together = lastAsker(turn.items) ?? together;
    partial = joined([partial, ended.partial]);
    ended = { ...ended, partial };
  }
  return ended;
}

function find(turns: readonly Turn[], clientId: string): [number, number] | null {
  for (const [turnIndex, turn] of turns.entries()) {
    const itemIndex = turn.items.findIndex((item) => item.type === 'user' && item.clientId === clientId);
    if (itemIndex >= 0) return [turnIndex, itemIndex];
  }
  return null;
}

/** What the items of `turn` from `start` on say to whoever wrote just before them. */
function readFrom(turn: Turn, start: number): Exclude<Verdict, { type: 'absent' }> {
  const finals = finalPhase(turn);
  const end = runEnd(turn, start, finals);
  const run = turn.items.slice(start, end);
  const own = run.findLast((item) => isFinal(item, finals));
  const isClosed = end < turn.items.length;
  if (own !== undefined && (isClosed || turn.status === 'completed')) {
    return { type: 'answered', text: answerText(run, own), together: null };
  }
  const partial = joined(run.map((item) => (item.type === 'agent' ? item.text : '')));
  switch (turn.status) {
    case 'inProgress':
      return { type: 'running' };
    case 'completed':
      return shared(turn, end, finals) ?? { type: 'no-final', partial };
    case 'interrupted':
      return { type: 'interrupted', partial };
    case 'failed':
      return { type: 'failed', message: turn.error?.message ?? '', kind: turn.error?.kind ?? '', partial };
  }
}

/** The last final after the run, given to a later user item of the same turn. */
function shared(turn: Turn, end: number, finals: FinalPhase): (Verdict & { type: 'answered' }) | null {
  const at = turn.items.findLastIndex((item, index) => index >= end && isFinal(item, finals));
  if (at < 0) return null;
  const before = turn.items.slice(0, at);
  const asked = before.findLastIndex((item) => item.type === 'user');
  const together = lastAsker(before);
  const own = turn.items[at];
  if (own === undefined || together === null) return null;
  return { type: 'answered', text: answerText(turn.items.slice(asked + 1, at + 1), own), together };
}

/** Whose the last user item is; null when there is none. */
function lastAsker(items: readonly Item[]): Together | null {
  const asker = items.findLast((item) => item.type === 'user');
  if (asker?.type !== 'user') return null;
  return asker.clientId?.startsWith(CLIENT_ID_PREFIX) ? 'message' : 'typed';
}

/** A phase-less message counts as final only where no item of the turn has a phase. */
type FinalPhase = 'final_answer' | null;

function finalPhase(turn: Turn): FinalPhase {
  return turn.items.some((item) => item.type === 'agent' && item.phase !== null) ? 'final_answer' : null;
}

function isFinal(item: Item, finals: FinalPhase): boolean {
  return item.type === 'agent' && item.phase === finals && item.text.trim() !== '';
}

function runEnd(turn: Turn, start: number, finals: FinalPhase): number {
  let hasFinal = false;
  for (let index = start; index < turn.items.length; index++) {
    const item = turn.items[index];
    if (item === undefined || item.type === 'user') return index;
    if (item.type === 'toolOutput' && item.name === OWN_TOOL_OUTPUT && hasFinal) return index;
    hasFinal ||= isFinal(item, finals);
  }
  return turn.items.length;
}

function answerText(run: readonly Item[], final: Item): string {
  const partials = run.filter((item) => item.type === 'agent' && item.phase === 'partial_answer');
  return joined([...partials, final].map((item) => (item.type === 'agent' ? item.text : '')));
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text.trim() !== '').join('\n\n');
}
