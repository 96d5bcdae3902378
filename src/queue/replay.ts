import { LIMITS } from '../limits.ts';

/**
 * Remembers which messages were taken, so that a second copy is not taken again. Bounded: past `size` the
 * oldest is forgotten. A message that was turned away is not remembered, so its sender may send it again.
 */
export class ReplayWindow {
  readonly #size: number;
  readonly #seen = new Set<string>();

  constructor(size: number = LIMITS.replayWindow) {
    this.#size = size;
  }

  /** A message without an id is never a replay. */
  isReplay(from: string | null, msgId: string | null): boolean {
    return msgId !== null && this.#seen.has(keyOf(from, msgId));
  }

  /** Call it when the message is recorded. */
  remember(from: string | null, msgId: string | null): void {
    if (msgId === null) return;
    this.#seen.add(keyOf(from, msgId));
    const [oldest] = this.#seen;
    if (this.#seen.size > this.#size && oldest !== undefined) this.#seen.delete(oldest);
  }
}

/** A path holds no NUL, so no two pairs share a key. */
function keyOf(from: string | null, msgId: string): string {
  return `${from ?? ''}\0${msgId}`;
}
