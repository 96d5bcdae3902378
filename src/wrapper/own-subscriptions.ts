import { randomUUID } from 'node:crypto';
import type { FromMode } from '../frames/message.ts';
import { controlFrame } from '../frames/send.ts';
import { LIMITS } from '../limits.ts';
import type { ReplyAddress } from '../store/record.ts';
import type { IdleNotice } from './inbound.ts';
import type { Outbox } from './outbox.ts';
import { type Connecting, isFrom } from './verify.ts';

export interface OwnSubscriptionsOptions {
  readonly socketPath: string;
  readonly fromMode: () => FromMode;
  readonly outbox: Outbox;
}

interface OwnSubscription {
  readonly id: string;
  readonly to: ReplyAddress;
  readonly tell: (notice: IdleNotice) => void;
}

/** Idle notices that we asked others for. */
export class OwnSubscriptions {
  readonly #options: OwnSubscriptionsOptions;
  #subscriptions: readonly OwnSubscription[] = [];

  constructor(options: OwnSubscriptionsOptions) {
    this.#options = options;
  }

  /** Asks for one notice, after everything written to that process before. */
  subscribe(to: ReplyAddress, tell: (notice: IdleNotice) => void): void {
    const { socketPath: from, fromMode, outbox } = this.#options;
    const id = randomUUID();
    this.#subscriptions = [...this.#subscriptions, { id, to, tell }].slice(-LIMITS.ownSubscriptions);
    void outbox.send(to, controlFrame(id, { action: 'notify_when_idle', from, fromMode: fromMode() }));
  }

  /**
   * A process holds one subscription of ours, the newest (Claude Code 2.1.332): its notice is for everybody who
   * asked it before that one too. One that another process sends says nothing.
   */
  notice(notice: IdleNotice, from: Connecting): void {
    const at = this.#subscriptions.findIndex(({ id }) => id === notice.origMsgId);
    const to = this.#subscriptions[at]?.to;
    if (to === undefined || !isFrom(to, from)) return;
    const isDue = (one: OwnSubscription, index: number) => index <= at && isSame(one.to, to);
    const due = this.#subscriptions.filter(isDue);
    this.#subscriptions = this.#subscriptions.filter((one) => !due.includes(one));
    for (const { tell } of due) tell(notice);
  }
}

function isSame(one: ReplyAddress, other: ReplyAddress): boolean {
  return one.pid === other.pid && one.procStart === other.procStart;
}
