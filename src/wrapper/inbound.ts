import { randomUUID } from 'node:crypto';
import { errorMessage } from '../errors.ts';
import { isLoop } from '../frames/hops.ts';
import type { InboundControl, InboundMessage, PeerMark } from '../frames/message.ts';
import { controlFrame } from '../frames/send.ts';
import { LIMITS } from '../limits.ts';
import type { Log } from '../os/log.ts';
import { listenerOf } from '../os/peer-credentials.ts';
import type { ReplayWindow } from '../queue/replay.ts';
import type { Subscription } from '../queue/subscriptions.ts';
import type { Message } from '../store/record.ts';
import type { Outbox } from './outbox.ts';
import { type Connecting, verify } from './verify.ts';

/** What another peer says became of messages of ours. */
export type Receipt = InboundControl & { readonly action: 'peer_message_status' };
/** Another peer is idle, as we asked to be told. */
export type IdleNotice = InboundControl & { readonly action: 'peer_idle_notice' };

export interface InboundOptions {
  /** Our own socket, from which receipts are sent. */
  readonly socketPath: string;
  readonly hopToken: string;
  readonly replay: ReplayWindow;
  readonly outbox: Outbox;
  readonly log: Log;
  /** Rejects when the message could not be recorded: then it was not received. */
  readonly receive: (message: Message) => Promise<void>;
  /** Tells a sender that its message was not received. */
  readonly turnAway: (message: Message, error: unknown) => void;
  /** True when somebody here waits for just this message, which then starts no turn. */
  readonly takes: (message: Message, mark: PeerMark | null, from: Connecting) => boolean;
  readonly subscribe: (subscription: Subscription) => void;
  readonly onReceipt: (receipt: Receipt, from: Connecting) => void;
  readonly onIdleNotice: (notice: IdleNotice, from: Connecting) => void;
}

/** What comes in on our socket, from whomever: verified, then recorded, subscribed, or refused and logged. */
export class Inbound {
  readonly #options: InboundOptions;
  #refused = 0;

  constructor(options: InboundOptions) {
    this.#options = options;
  }

  /** How many frames were turned away so far; the log says why. */
  get refused(): number {
    return this.#refused;
  }

  /** A message whose auth line was right. */
  async message(frame: InboundMessage, connecting: Connecting | null): Promise<void> {
    const { replay, hopToken, receive, turnAway, takes, log } = this.#options;
    const verified = await verify(frame.from, connecting);
    if ('refusal' in verified) return this.refuse(frame.msgId, connecting, verified.refusal);
    const loop = isLoop(frame.hopChain, hopToken);
    if (loop !== null) return this.#drop(frame.msgId, connecting, loop, 'the conversation goes in circles');
    if (replay.isReplay(frame.from, frame.msgId)) return log.write('replay', { msgId: frame.msgId });
    const message: Message = {
      id: randomUUID(),
      msgId: frame.msgId,
      text: frame.text,
      priority: frame.priority,
      mark: frame.mark?.kind ?? null,
      inReplyTo: frame.mark?.in_reply_to ?? null,
      hopChain: frame.hopChain,
      sender: verified.sender,
      afterTurnId: null,
      receivedAtMs: Date.now(),
    };
    if (connecting === null || !takes(message, frame.mark, connecting)) {
      try {
        await receive(message);
      } catch (error) {
        log.write('not-received', { msgId: frame.msgId, error: errorMessage(error) });
        return turnAway(message, error);
      }
    }
    replay.remember(frame.from, frame.msgId);
  }

  /** A message that nobody vouches for: its sender is told so, the model never sees it. */
  async refuse(msgId: string | null, connecting: Connecting | null, why: string): Promise<void> {
    this.#refuse('refused', { msgId, pid: connecting?.pid, reason: why });
    await this.#receipt(msgId, connecting, {
      status: 'refused',
      reason: 'The sender could not be verified.',
    });
  }

  /** A line over the cap: its sender is not known from the line, which is cut. */
  async tooLong(msgId: string | null, connecting: Connecting | null): Promise<void> {
    const reason = `The message has more than ${LIMITS.frameChars} characters.`;
    await this.#drop(msgId, connecting, 'too-large', reason);
  }

  async control(control: InboundControl, connecting: Connecting | null): Promise<void> {
    const { log, onReceipt, onIdleNotice } = this.#options;
    switch (control.action) {
      case 'notify_when_idle':
        return this.#subscription(control, connecting);
      case 'peer_message_status':
        log.write('receipt', {
          pid: connecting?.pid,
          status: control.status,
          msgIds: control.msgIds,
          reason: control.reason,
        });
        if (connecting !== null) onReceipt(control, connecting);
        return;
      case 'peer_idle_notice':
        log.write('idle-notice', {
          pid: connecting?.pid,
          origMsgId: control.origMsgId,
          state: control.state,
        });
        if (connecting !== null) onIdleNotice(control, connecting);
        return;
      case 'rename':
        return this.#refuse('refused', {
          action: 'rename',
          pid: connecting?.pid,
          reason: 'names are given by peer open',
        });
    }
  }

  #refuse(event: 'refused' | 'dropped', fields: Readonly<Record<string, unknown>>): void {
    this.#refused++;
    this.#options.log.write(event, fields);
  }

  async #subscription(
    { msgId, from, fromMode }: InboundControl & { action: 'notify_when_idle' },
    connecting: Connecting | null,
  ): Promise<void> {
    const verified = await verify(from, connecting);
    const procStart = connecting?.procStart ?? null;
    if ('refusal' in verified || verified.address === null || procStart === null) {
      const reason = 'refusal' in verified ? verified.refusal : 'gone';
      return this.#refuse('refused', { action: 'notify_when_idle', msgId, reason });
    }
    const { pid } = verified.address;
    this.#options.subscribe({ msgId, socketPath: from, pid, procStart, fromMode, atMs: Date.now() });
  }

  async #drop(msgId: string | null, connecting: Connecting | null, dropReason: string, reason: string) {
    this.#refuse('dropped', { msgId, pid: connecting?.pid, reason: dropReason });
    await this.#receipt(msgId, connecting, { status: 'dropped', reason, dropReason });
  }

  /** Receipts go to the row of the process that connected, and only if it listens there: never to a foreign `from`. */
  async #receipt(msgId: string | null, connecting: Connecting | null, about: OwnReceipt): Promise<void> {
    const socketPath = connecting?.row?.messagingSocketPath;
    if (msgId === null || connecting === null || socketPath === undefined) return;
    if ((await listenerOf(socketPath))?.pid !== connecting.pid) return;
    const { outbox, socketPath: from } = this.#options;
    const frame = controlFrame(randomUUID(), {
      action: 'peer_message_status',
      origMsgId: msgId,
      from,
      ...about,
    });
    const { pid, procStart, row } = connecting;
    void outbox.send(
      { socketPath, pid, procStart, sessionId: row?.sessionId ?? null },
      frame,
      LIMITS.outboxBeforeReceipt,
    );
  }
}

interface OwnReceipt {
  readonly status: 'refused' | 'dropped';
  readonly reason: string;
  readonly dropReason?: string;
}
