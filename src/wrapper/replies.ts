import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage, PeerError } from '../errors.ts';
import { wrapEnvelope } from '../frames/envelope.ts';
import { extendChain } from '../frames/hops.ts';
import type { FromMode } from '../frames/message.ts';
import type { Pace } from '../frames/pace.ts';
import { sendFrame, type UserFrame, userFrame } from '../frames/send.ts';
import { LIMITS } from '../limits.ts';
import type { Log } from '../os/log.ts';
import { readToken } from '../registry/key.ts';
import { liveRows } from '../registry/live.ts';
import type { Row } from '../registry/row.ts';
import type { Delivery, Message, MessageRecord, Outcome, ReplyAddress } from '../store/record.ts';
import { shortId } from './framing.ts';
import { excerpt, spill } from './spill.ts';
import { type Reply, reply } from './wording.ts';

export interface RepliesOptions {
  readonly name: string;
  /** The socket this process listens on: Claude Code checks that an answer comes from its owner. */
  readonly socketPath: string;
  readonly sessionsDir: string;
  /** Where a text too long for a frame is kept. */
  readonly textsDir: string;
  readonly hopToken: string;
  /** Our permission class at this moment. */
  readonly fromMode: () => FromMode;
  readonly pace: Pace;
  readonly record: MessageRecord;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** How much of a text too long for one frame is sent inline, tried in turn: escapes can make it much longer. */
const HEAD_BYTES = [800_000, 300_000, 100_000];

/** Writes outcomes back to their senders: each at most once, in order per recipient, at a pace they accept. */
export class Replies {
  readonly #options: RepliesOptions;
  readonly #lines = new Map<string, Promise<void>>();

  constructor(options: RepliesOptions) {
    this.#options = options;
  }

  /** Tells the sender, unless the message was itself an answer or a note, or gave no address. */
  tell(message: Message, outcome: Outcome): void {
    const { record, name } = this.#options;
    const isAnswered = message.mark === 'answer' || message.mark === 'note';
    const address = isAnswered ? null : message.sender.replyTo;
    if (address === null) return record.delivered(message.id, 'none');
    if (!record.claimReply(message.id)) return;
    const text = reply(outcome, shortId(message), name);
    const before = this.#lines.get(address.socketPath) ?? Promise.resolve();
    const line = before.then(() => this.#write(message, address, text));
    this.#lines.set(address.socketPath, line);
    void line.then(() => {
      if (this.#lines.get(address.socketPath) === line) this.#lines.delete(address.socketPath);
    });
  }

  /** Resolves when everything told so far is written or has failed; never rejects. */
  async settled(): Promise<void> {
    while (this.#lines.size > 0) await Promise.all(this.#lines.values());
  }

  async #write(message: Message, address: ReplyAddress, text: Reply): Promise<void> {
    const { record, log } = this.#options;
    let delivery: Delivery;
    try {
      delivery = await this.#deliver(message, address, text);
    } catch (error) {
      delivery = error instanceof PeerError && error.word === 'maybe-written' ? 'maybe-written' : 'not-sent';
      log.write('reply-failed', { id: message.id, delivery, error: errorMessage(error) });
    }
    record.delivered(message.id, delivery);
    log.write('reply', { id: message.id, kind: text.kind, delivery });
  }

  async #deliver(message: Message, address: ReplyAddress, text: Reply): Promise<Delivery> {
    const { pace, sessionsDir, signal } = this.#options;
    const waitMs = pace.take(address.socketPath, performance.now());
    if (waitMs > 0) await delay(waitMs, undefined, { signal });
    const target = whereNow(address, await liveRows(sessionsDir));
    if (target === null) throw new PeerError('not-sent', 'The sender is gone; its answer is not sent.');
    const frame = this.#frame(message, text);
    return sendFrame({ socketPath: target, token: readToken(sessionsDir, target), frame, signal });
  }

  #frame(message: Message, text: Reply): UserFrame {
    const whole = this.#userFrame(message, text, text.text);
    if (fits(whole)) return whole;
    const file = spill(this.#options.textsDir, `answer-${message.id}`, text.text);
    const cut = HEAD_BYTES.map((bytes) => this.#userFrame(message, text, excerpt(text.text, file, bytes)));
    return cut.find(fits) ?? whole;
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

/** Room for the auth line before the frame. */
const AUTH_CHARS = 128;

function fits(frame: UserFrame): boolean {
  return JSON.stringify(frame).length + AUTH_CHARS <= LIMITS.frameChars;
}

/** The socket to answer to: of the same process, else of the one live process that has its session now. */
function whereNow(address: ReplyAddress, rows: readonly Row[]): string | null {
  const same = rows.find((row) => row.pid === address.pid && (row.procStart ?? null) === address.procStart);
  if (same !== undefined) return same.messagingSocketPath ?? null;
  const moved = rows.filter((row) => address.sessionId !== null && row.sessionId === address.sessionId);
  return moved.length === 1 ? (moved[0]?.messagingSocketPath ?? null) : null;
}
