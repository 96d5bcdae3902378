import { randomUUID } from 'node:crypto';
import { errorMessage } from '../errors.ts';
import { wrapEnvelope } from '../frames/envelope.ts';
import { extendChain } from '../frames/hops.ts';
import type { FromMode } from '../frames/message.ts';
import { type UserFrame, userFrame } from '../frames/send.ts';
import { LIMITS } from '../limits.ts';
import type { Log } from '../os/log.ts';
import type { Delivery, Message, MessageRecord, Outcome, ReplyAddress } from '../store/record.ts';
import { shortId } from './framing.ts';
import type { Receipt } from './inbound.ts';
import type { Outbox } from './outbox.ts';
import { excerpt, spill } from './spill.ts';
import { type Connecting, isFrom } from './verify.ts';
import { halfTold, type Reply, reply, turnedAway } from './wording.ts';

export interface RepliesOptions {
  readonly name: string;
  /** The socket this process listens on: Claude Code checks that an answer comes from its owner. */
  readonly socketPath: string;
  /** Where a text too long for a frame is kept. */
  readonly textsDir: string;
  readonly hopToken: string;
  /** Our permission class at this moment. */
  readonly fromMode: () => FromMode;
  readonly outbox: Outbox;
  readonly record: MessageRecord;
  readonly log: Log;
  /** The first answer that a person must approve. */
  readonly onHeld: (message: Message) => void;
  /** The peer ends, and writes no more. */
  readonly isEnding: () => boolean;
  /** Nothing is being told any more. */
  readonly onIdle: () => void;
}

/** What was written, as long as a receipt about it may come. */
interface Sent {
  readonly message: Message;
  readonly address: ReplyAddress;
  readonly frame: UserFrame;
  receipts: number;
  /** What became of it is settled. */
  isDecided: boolean;
  resends: number;
}

/** How much of a text too long for one frame is sent inline, tried in turn: escapes can make it much longer. */
const HEAD_BYTES = [800_000, 300_000, 100_000];
/** Room for the auth line before the frame. */
const AUTH_CHARS = 128;

/** Writes outcomes back to their senders, each at most once, and follows what the receiver says of them. */
export class Replies {
  readonly #options: RepliesOptions;
  readonly #sent = new Map<string, Sent>();
  #sentChars = 0;
  #hasToldHeld = false;
  #telling: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor(options: RepliesOptions) {
    this.#options = options;
  }

  /** Tells the sender, unless the message was itself an answer or a note, or gave no address. */
  tell(message: Message, outcome: Outcome): void {
    const { record, name } = this.#options;
    this.#inOrder(async () => {
      const address = addressOf(message);
      if (address === null) return record.delivered(message.id, 'none');
      if (!(await record.claimReply(message.id))) return;
      this.#write(message, address, reply(outcome, shortId(message), name));
    });
  }

  /** For a message whose reply an earlier process may have written: one note that says so, never the reply again. */
  tellOfHalfTold(message: Message, outcome: Outcome): void {
    const { record, name } = this.#options;
    this.#inOrder(async () => {
      const address = addressOf(message);
      if (address === null || !(await record.claimNote(message.id))) return;
      this.#write(message, address, halfTold(outcome, shortId(message), name));
    });
  }

  /** A message that was not received has no outcome; its sender is told all the same. */
  turnAway(message: Message, error: unknown): void {
    const address = addressOf(message);
    if (address === null) return;
    const note = turnedAway(error, shortId(message), this.#options.name);
    void this.#options.outbox.send(address, this.#frame(message, note));
  }

  /** Resolves when everything told so far is given to the outbox. */
  settled(): Promise<void> {
    return this.#telling;
  }

  get isIdle(): boolean {
    return this.#pending === 0;
  }

  /**
   * What a receiver says became of answers. Dropped for coming too fast is a definite refusal: those very frames are
   * sent again, and the receiver takes them for new (Claude Code 2.1.332).
   */
  receipt({ status, msgIds, dropReason }: Receipt, from: Connecting): void {
    for (const msgId of msgIds) {
      const sent = this.#sent.get(msgId);
      // Each receipt has a connection of its own: a decision can overtake the `held` before it.
      if (sent === undefined || sent.isDecided || !isFrom(sent.address, from)) continue;
      sent.receipts++;
      sent.isDecided = status !== 'held' && dropReason !== 'rate-limited';
      this.#delivered(sent.message, status);
      if (status === 'held' && !this.#hasToldHeld) {
        this.#hasToldHeld = true;
        this.#options.onHeld(sent.message);
      }
      if (status === 'dropped' && dropReason === 'rate-limited' && sent.resends++ < LIMITS.resends) {
        void this.#send(sent);
      }
    }
  }

  /** The record is asked in the order in which outcomes came, so that each recipient is told in that order. */
  #inOrder(task: () => Promise<void>): void {
    this.#pending++;
    this.#telling = this.#telling
      .then(task)
      .catch((error: unknown) => this.#options.log.write('record-failed', { error: errorMessage(error) }))
      .then(() => {
        this.#pending--;
        if (this.isIdle) this.#options.onIdle();
      });
  }

  #write(message: Message, address: ReplyAddress, reply: Reply): void {
    const frame = this.#frame(message, reply);
    const sent: Sent = { message, address, frame, receipts: 0, isDecided: false, resends: 0 };
    this.#remember(sent);
    void this.#send(sent);
  }

  /** A receipt can come before the end of the connection it is about, and says more than that end. */
  async #send(sent: Sent): Promise<void> {
    const { address, frame, receipts } = sent;
    const delivery = await this.#options.outbox.send(address, frame);
    // What the end of the peer left unwritten is told when it is opened again.
    if (delivery === 'not-sent' && this.#options.isEnding()) return;
    if (sent.receipts === receipts) this.#delivered(sent.message, delivery);
  }

  #delivered(message: Message, delivery: Delivery): void {
    const { record, log } = this.#options;
    this.#inOrder(() => record.delivered(message.id, delivery));
    log.write('reply', { id: message.id, delivery });
  }

  /** Before the first byte goes out: a receipt can come 1 ms after the last one. */
  #remember(sent: Sent): void {
    this.#sent.set(sent.frame.msg_id, sent);
    this.#sentChars += charsOf(sent);
    for (const [id, oldest] of this.#sent) {
      const isCrowded = this.#sent.size > LIMITS.settledMessages || this.#sentChars > LIMITS.sentChars;
      if (!isCrowded || oldest === sent) break;
      this.#sent.delete(id);
      this.#sentChars -= charsOf(oldest);
    }
  }

  #frame(message: Message, reply: Reply): UserFrame {
    const whole = this.#userFrame(message, reply, reply.text);
    if (fits(whole)) return whole;
    const file = this.#keep(message, reply.text);
    const cut = HEAD_BYTES.map((bytes) => this.#userFrame(message, reply, excerpt(reply.text, file, bytes)));
    return cut.find(fits) ?? whole;
  }

  /** Where the whole text is, or what stands in for it: a reply is sent even when its file cannot be written. */
  #keep(message: Message, text: string): string {
    try {
      return spill(this.#options.textsDir, `answer-${message.id}`, text);
    } catch (error) {
      this.#options.log.write('spill-failed', { id: message.id, error: errorMessage(error) });
      return 'nowhere: it could not be written';
    }
  }

  #userFrame(message: Message, reply: Reply, text: string): UserFrame {
    const { socketPath, name, hopToken, fromMode } = this.#options;
    const hopChain = extendChain(message.hopChain, hopToken);
    return userFrame({
      msgId: randomUUID(),
      from: socketPath,
      content: wrapEnvelope({ from: socketPath, fromName: name, fromMode: fromMode(), hopChain, text }),
      priority: 'next',
      mark: {
        kind: reply.kind,
        outcome: reply.outcome,
        ...(message.msgId === null ? {} : { in_reply_to: message.msgId }),
      },
    });
  }
}

function charsOf({ frame }: Sent): number {
  return frame.message.content.length;
}

function fits(frame: UserFrame): boolean {
  return JSON.stringify(frame).length + AUTH_CHARS <= LIMITS.frameChars;
}

/** Null for what is never answered: answers, notes, and messages without an address. */
function addressOf({ mark, sender }: Message): ReplyAddress | null {
  return mark === 'answer' || mark === 'note' ? null : sender.replyTo;
}
