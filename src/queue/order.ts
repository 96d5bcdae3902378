import type { Priority } from '../frames/message.ts';

/** A message that waits for the thread; its text stays in the record. */
export interface Waiting {
  readonly id: string;
  readonly priority: Priority;
  /** UTF-8 bytes of its text, for the queue's cap. */
  readonly bytes: number;
  /** Arrival number, from the record. */
  readonly seq: number;
  /** Came back from the harness: goes before everything that was never handed over. */
  readonly isReturned: boolean;
  /** The running turn takes no input, so even `now` waits for idle. */
  readonly needsIdle: boolean;
  /** How often the harness refused it. */
  readonly refusals: number;
}

/** The queue with `waiting` in its place: returned first, then `now`, `next`, `later`, each in order of arrival. */
export function enqueue(queue: readonly Waiting[], waiting: Waiting): readonly Waiting[] {
  const at = queue.findIndex((other) => before(waiting, other));
  return at < 0 ? [...queue, waiting] : queue.toSpliced(at, 0, waiting);
}

function before(a: Waiting, b: Waiting): boolean {
  const difference = rank(a) - rank(b);
  return difference < 0 || (difference === 0 && a.seq < b.seq);
}

const RANK = { now: 1, next: 2, later: 3 } as const;

function rank(waiting: Waiting): number {
  return waiting.isReturned ? 0 : RANK[waiting.priority];
}

/** Bytes of all waiting texts. */
export function queuedBytes(queue: readonly Waiting[]): number {
  return queue.reduce((sum, waiting) => sum + waiting.bytes, 0);
}
