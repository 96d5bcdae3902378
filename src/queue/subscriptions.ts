import type { FromMode } from '../frames/message.ts';
import { LIMITS } from '../limits.ts';

/** Somebody who wants one notice when this peer is next idle. */
export interface Subscription {
  /** Id of the subscription frame, which the notice quotes. */
  readonly msgId: string;
  readonly socketPath: string;
  readonly pid: number;
  readonly procStart: string;
  readonly fromMode: FromMode | null;
  readonly atMs: number;
}

export interface Subscribed {
  readonly subscriptions: readonly Subscription[];
  /** No longer held; their senders are told `unavailable`. */
  readonly displaced: readonly Subscription[];
}

/**
 * Adds a subscription. A sender's newest one takes the place of its older one without a word, as in Claude Code
 * 2.1.332; past the caps and after twelve hours the oldest is displaced.
 */
export function subscribe(subscriptions: readonly Subscription[], added: Subscription): Subscribed {
  const isSame = (one: Subscription) => one.pid === added.pid && one.socketPath === added.socketPath;
  const others = subscriptions.filter((one) => !isSame(one));
  const { kept, expired } = withoutExpired(others, added.atMs);
  const ofPid = kept.filter((one) => one.pid === added.pid);
  const crowded = ofPid.length >= LIMITS.subscriptionsPerPid ? ofPid.slice(0, 1) : [];
  const roomy = kept.filter((one) => !crowded.includes(one));
  const overflow = roomy.slice(0, Math.max(0, roomy.length + 1 - LIMITS.subscriptions));
  return {
    subscriptions: [...roomy.slice(overflow.length), added],
    displaced: [...expired, ...crowded, ...overflow],
  };
}

/** Splits off what is older than twelve hours. */
export function withoutExpired(
  subscriptions: readonly Subscription[],
  nowMs: number,
): { readonly kept: readonly Subscription[]; readonly expired: readonly Subscription[] } {
  const isExpired = (one: Subscription) => nowMs - one.atMs >= LIMITS.subscriptionMs;
  return {
    kept: subscriptions.filter((one) => !isExpired(one)),
    expired: subscriptions.filter(isExpired),
  };
}
