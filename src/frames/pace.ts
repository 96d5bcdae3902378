import { LIMITS } from '../limits.ts';

/** Claude Code's bucket for one sender (2.1.332), seen from the sending side. Below zero: sends that wait. */
interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** One less than the receiver's: a message that is late on its way must not make the next one too early. */
const CAPACITY = LIMITS.burst - 1;

function fullBucket(nowMs: number): Bucket {
  return { tokens: CAPACITY, atMs: nowMs };
}

/** Takes the next place in line: how long that send has to wait, and the bucket after it. */
function takeToken(bucket: Bucket, nowMs: number): { readonly bucket: Bucket; readonly delayMs: number } {
  const tokens = tokensAt(bucket, nowMs) - 1;
  const delayMs = tokens >= 0 ? 0 : Math.ceil(-tokens * LIMITS.refillMs);
  return { bucket: { tokens, atMs: Math.max(nowMs, bucket.atMs) }, delayMs };
}

function tokensAt(bucket: Bucket, nowMs: number): number {
  const refilled = Math.max(0, nowMs - bucket.atMs) / LIMITS.refillMs;
  return Math.min(CAPACITY, bucket.tokens + refilled);
}

/** One bucket per recipient. At the cap the recipient written to longest ago is forgotten. */
export class Pace {
  readonly #buckets = new Map<string, Bucket>();

  /** Milliseconds (of a clock that never goes back) the next frame to `recipient` has to wait. */
  take(recipient: string, nowMs: number): number {
    const { bucket, delayMs } = takeToken(this.#buckets.get(recipient) ?? fullBucket(nowMs), nowMs);
    this.#buckets.delete(recipient);
    this.#buckets.set(recipient, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > LIMITS.pacedRecipients && oldest !== undefined) this.#buckets.delete(oldest);
    return delayMs;
  }
}
