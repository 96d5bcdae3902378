import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { wrapEnvelope } from '../frames/envelope.ts';
import { extendChain } from '../frames/hops.ts';
import type { FromMode, PeerMark } from '../frames/message.ts';
import { type UserFrame, userFrame } from '../frames/send.ts';
import { LIMITS } from '../limits.ts';
import type { Log } from '../os/log.ts';
import type { Message, Written } from '../store/record.ts';
import type { Outgoing, Sent, Word } from '../tools/courier.ts';
import { foreign, receiptSentence } from '../tools/sentences.ts';
import { type FoundAgent, isElsewhere, isThere } from './agents.ts';
import { shortOf } from './framing.ts';
import type { IdleNotice, Receipt } from './inbound.ts';
import type { News } from './news.ts';
import type { Outbox } from './outbox.ts';
import { OwnSubscriptions } from './own-subscriptions.ts';
import { type Connecting, isFrom } from './verify.ts';

const ALIVE_POLL_MS = 1_000;
/** A process that ends writes its notes first; those on their way are still read. */
const LAST_FRAMES_MS = 250;

export interface OwnMessagesOptions {
  readonly name: string;
  readonly socketPath: string;
  readonly hopToken: string;
  readonly fromMode: () => FromMode;
  readonly outbox: Outbox;
  readonly news: News;
  readonly log: Log;
  /** Gives a message to the thread. */
  readonly receive: (message: Message) => void;
}

/** A message of the peer's own, as long as something may be heard of it. */
interface OwnMessage {
  readonly to: FoundAgent;
  readonly frame: UserFrame;
  readonly isAsk: boolean;
  /** Null once nobody waits: then it is news. */
  hear: ((word: Word) => void) | null;
  /** A turn may be started about it, once. */
  mayWake: boolean;
  /** What became of it is settled. */
  isDecided: boolean;
  resends: number;
}

/** What began the turn that a message is sent in. */
export interface Origin {
  readonly hopChain: readonly string[];
  /** A notice of ours began it: what is sent then starts no further turn. */
  readonly isNotice: boolean;
}

/** The messages that the model sends by its tools, and what is heard of each. */
export class OwnMessages {
  readonly #options: OwnMessagesOptions;
  readonly #subscriptions: OwnSubscriptions;
  readonly #messages = new Map<string, OwnMessage>();
  #poll: NodeJS.Timeout | undefined;

  constructor(options: OwnMessagesOptions) {
    this.#options = options;
    this.#subscriptions = new OwnSubscriptions(options);
  }

  send(to: FoundAgent, message: Outgoing, origin: Origin, hear: (word: Word) => void): Sent {
    const frame = this.#frame(message, origin);
    const own: OwnMessage = {
      to,
      frame,
      isAsk: message.isAsk,
      hear,
      mayWake: !origin.isNotice,
      isDecided: false,
      resends: 0,
    };
    this.#remember(own);
    if (own.isAsk) this.#poll ??= setInterval(() => void this.#lookForEnded(), ALIVE_POLL_MS);
    this.#options.log.write('own-message', { msgId: frame.msg_id, to: to.name, isAsk: own.isAsk });
    return {
      shortId: shortOf(frame.msg_id),
      written: this.#write(own, message.wantsIdleNotice),
      subscribe: () => this.#subscribe(own),
      leave: () => {
        own.hear = null;
      },
    };
  }

  /** Whether a question of ours to its sender waits for this message, which is then not given to the thread. */
  takes(message: Message, mark: PeerMark | null, from: Connecting): boolean {
    const question = mark === null ? this.#questionTo(from) : this.#messages.get(mark.in_reply_to ?? '');
    if (!question?.isAsk || question.hear === null || !isBy(question.to, message, from)) return false;
    const { log, receive } = this.#options;
    log.write('own-message-reply', {
      msgId: question.frame.msg_id,
      replyId: message.msgId,
      mark: mark?.kind,
    });
    const queue = () => receive(message);
    question.hear({ type: 'reply', isAnswer: mark?.kind !== 'note', text: message.text, queue });
    return true;
  }

  /** This process stands still until our answer: nobody here waits for it in turn. */
  askedBy(from: Connecting): void {
    for (const own of this.#messages.values())
      if (own.isAsk && isFrom(own.to.address, from)) own.hear?.({ type: 'crossed' });
  }

  /** Nobody but its addressee says what became of a message. */
  receipt({ status, msgIds, reason, dropReason }: Receipt, from: Connecting): void {
    for (const msgId of msgIds) {
      const own = this.#messages.get(msgId);
      if (own === undefined || !isFrom(own.to.address, from)) continue;
      // Each receipt has a connection of its own: a decision can overtake the `held` before it.
      if (own.isDecided && status === 'held') continue;
      own.isDecided ||= status !== 'held' && dropReason !== 'rate-limited';
      if (status === 'dropped' && dropReason === 'rate-limited' && own.resends++ < LIMITS.resends) {
        void this.#options.outbox.send(own.to.address, own.frame);
      } else if (own.hear !== null) {
        own.hear({ type: 'receipt', status, reason });
      } else {
        const wakes = own.mayWake && status !== 'delivered';
        if (wakes) own.mayWake = false;
        const message = `Your message ${shortOf(msgId)} to ${foreign(own.to.name)}`;
        this.#options.news.add({ about: msgId, text: receiptSentence(message, status, reason), wakes });
      }
    }
  }

  idleNotice(notice: IdleNotice, from: Connecting): void {
    this.#subscriptions.notice(notice, from);
  }

  close(): void {
    clearInterval(this.#poll);
  }

  async #write(own: OwnMessage, wantsIdleNotice: boolean): Promise<Written> {
    const { name, address } = own.to;
    const written = await this.#options.outbox.write(address, own.frame);
    if (written.delivery !== 'written') {
      return { ...written, reason: written.reason.replaceAll(address.socketPath, name) };
    }
    if (wantsIdleNotice) this.#subscribe(own);
    return written;
  }

  #frame({ text, isAsk }: Outgoing, { hopChain }: Origin): UserFrame {
    const { name, socketPath: from, hopToken, fromMode } = this.#options;
    const chain = extendChain(hopChain, hopToken);
    return userFrame({
      msgId: randomUUID(),
      from,
      content: wrapEnvelope({ from, fromName: name, fromMode: fromMode(), hopChain: chain, text }),
      priority: 'next',
      mark: isAsk ? { kind: 'message', ask: true } : { kind: 'message' },
    });
  }

  /** Before the first byte goes out: a receipt can come 1 ms after the last one. */
  #remember(own: OwnMessage): void {
    this.#messages.set(own.frame.msg_id, own);
    if (this.#messages.size <= LIMITS.settledMessages) return;
    for (const [msgId, { hear }] of this.#messages) {
      if (hear !== null) continue;
      this.#messages.delete(msgId);
      return;
    }
  }

  #subscribe(own: OwnMessage): void {
    const { news } = this.#options;
    const name = foreign(own.to.name);
    this.#subscriptions.subscribe(own.to.address, ({ state, detail }) => {
      if (own.isAsk) {
        if (state === 'idle') own.hear?.({ type: 'idle', detail });
        if (state === 'exited') own.hear?.({ type: 'gone' });
        return;
      }
      news.add({ about: null, text: idleSentence(name, state, detail), wakes: false });
    });
  }

  /** A native session marks nothing: its next message is the answer to the question that waits longest. */
  #questionTo(from: Connecting): OwnMessage | undefined {
    const isIt = (own: OwnMessage) =>
      own.isAsk && own.hear !== null && own.to.kind === 'claude' && isFrom(own.to.address, from);
    return [...this.#messages.values()].find(isIt);
  }

  async #lookForEnded(): Promise<void> {
    const waiting = [...this.#messages.values()].filter(({ isAsk, hear }) => isAsk && hear !== null);
    if (waiting.length === 0) {
      clearInterval(this.#poll);
      this.#poll = undefined;
    }
    for (const own of waiting) {
      if (await isThere(own.to)) continue;
      await delay(LAST_FRAMES_MS);
      own.hear?.({ type: 'gone' });
    }
  }
}

/** A verified message says which socket its sender listens on, which holds in other containers too. */
function isBy(asked: FoundAgent, { sender }: Message, from: Connecting): boolean {
  if (isElsewhere(asked)) return sender.replyTo?.socketPath === asked.address.socketPath;
  return isFrom(asked.address, from);
}

function idleSentence(name: string, state: IdleNotice['state'], detail: string | null): string {
  const words = detail === null ? '' : ` Its last words: ${foreign(detail)}`;
  switch (state) {
    case 'idle':
      return `${name} is idle again.${words}`;
    case 'exited':
      return `${name} has ended.`;
    case 'unavailable':
      return `${name} holds your request for an idle notice no longer.`;
  }
}
