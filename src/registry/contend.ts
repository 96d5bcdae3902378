import { PeerError } from '../errors.ts';
import { oneLine } from '../os/terminal.ts';
import { nextChange } from '../os/watch.ts';
import { liveRows } from './live.ts';
import { sameName } from './names.ts';
import type { Publication } from './publish.ts';
import { isListed, isOpening, type Row, whereIs } from './row.ts';

export type Contention =
  | { readonly decision: 'proceed' }
  | { readonly decision: 'wait' | 'yield'; readonly other: Row };

/**
 * What an opening wrapper does about the live rows it reads after it has written its own. Of two, at least one
 * reads the other, because each writes before it reads; the older process is the one that stays. It waits for a
 * younger one that is already on its way, since that one may have read the folder before us.
 */
export function contend(mine: Row, others: readonly Row[]): Contention {
  const rivals = others.filter((other) => other.pid !== mine.pid && wantsTheSame(mine, other));
  const serving = rivals.find(isListed);
  if (serving !== undefined) return { decision: 'yield', other: serving };
  const opening = rivals.filter(isOpening);
  const older = opening.find((other) => isOlder(other, mine));
  if (older !== undefined) return { decision: 'yield', other: older };
  const younger = opening[0];
  return younger === undefined ? { decision: 'proceed' } : { decision: 'wait', other: younger };
}

export interface Claim {
  readonly sessionsDir: string;
  /** Published with `state: 'opening'` and without a socket; withdrawn when this yields. */
  readonly publication: Publication;
  readonly signal?: AbortSignal;
  /** Told once for each other wrapper that is waited for. */
  readonly onWait?: (other: Row) => void;
}

/** A change of the folder can be missed; this is how long such a one goes unseen. */
const POLL_MS = 100;

/**
 * Makes the name (and the thread, when the row has its id) ours among wrappers that open at the same moment.
 * Can be called again when the thread's id is known later. Resolves when we may go on to serve.
 * @throws PeerError `name-taken` or `thread-taken` that says where; the publication is then withdrawn
 */
export async function claimName({ sessionsDir, publication, signal, onWait }: Claim): Promise<void> {
  let waitedFor: number | null = null;
  for (;;) {
    const contention = await contendInFolder(sessionsDir, publication.row);
    if (contention.decision === 'proceed') return;
    const { decision, other } = contention;
    if (decision === 'yield') {
      publication.withdrawKey();
      throw taken(publication.row, other);
    }
    if (waitedFor !== other.pid) onWait?.(other);
    waitedFor = other.pid;
    await nextChange(sessionsDir, POLL_MS, signal);
  }
}

/** A folder's listing may miss a file that is replaced meanwhile, so nobody proceeds on a single look. */
async function contendInFolder(sessionsDir: string, mine: Row): Promise<Contention> {
  const first = contend(mine, await liveRows(sessionsDir));
  return first.decision === 'proceed' ? contend(mine, await liveRows(sessionsDir)) : first;
}

function wantsTheSame(mine: Row, other: Row): boolean {
  return sameName(mine.name, other.name) || isSameThread(mine, other);
}

function isSameThread(mine: Row, other: Row): boolean {
  return mine.sessionId !== undefined && mine.sessionId === other.sessionId;
}

/** A total order that both sides see alike: start time, then pid. */
function isOlder(a: Row, b: Row): boolean {
  const startA = a.procStart ?? '';
  const startB = b.procStart ?? '';
  // Decimal without leading zeros: a shorter one is a smaller one, and equal lengths compare as text.
  if (startA.length !== startB.length) return startA.length < startB.length;
  return startA === startB ? a.pid < b.pid : startA < startB;
}

function taken(mine: Row, other: Row): PeerError {
  const place = oneLine(whereIs(other), 120);
  const does = isOpening(other) ? 'is being opened' : 'is already open';
  if (sameName(mine.name, other.name)) {
    const remedy = 'Go there, close it (peer close), or choose another name.';
    return new PeerError('name-taken', `${oneLine(mine.name, 64)} ${does}: ${place}. ${remedy}`);
  }
  return new PeerError(
    'thread-taken',
    `This thread ${does} as ${oneLine(other.name, 64)}: ${place}. Go there, or close that peer first.`,
  );
}
