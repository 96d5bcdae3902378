import { createHash, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { errorCode } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { LineSplitter } from './lines.ts';
import type { InboundControl, InboundMessage } from './message.ts';
import { parseFrame } from './parse.ts';

/** Where events for the wrapper's log go; a {@link Log} is one. */
export interface EventLog {
  write(event: string, fields: Record<string, unknown>): void;
}

/** What is known about the sender of a frame. */
export interface SenderContext<Peer> {
  /** The token was right on the same connection, before this frame. */
  readonly authed: boolean;
  /** What `identify` found at accept. */
  readonly peer: Peer | null;
}

/** What becomes of frames. Awaited one after the other, in the order of arrival. */
export interface FrameHandlers<Peer> {
  onMessage(
    message: InboundMessage,
    sender: SenderContext<Peer> & { readonly authed: true },
  ): Promise<void> | void;
  /** Control frames need no token: nothing but the frame's own ids connects them to what we sent. */
  onControl(control: InboundControl, sender: SenderContext<Peer>): Promise<void> | void;
  /** A message without the right token before it. */
  onRefused(message: InboundMessage, sender: SenderContext<Peer>): Promise<void> | void;
  /** A line over the cap; `msgId` is what its beginning shows. */
  onTooLong?(msgId: string | null, sender: SenderContext<Peer>): Promise<void> | void;
}

interface ConnectionOptions<Peer> {
  readonly socket: Socket;
  readonly peer: Peer | null;
  readonly token: string;
  readonly handlers: FrameHandlers<Peer>;
  /** Runs a task after all earlier ones of every connection; never rejects. */
  readonly inOrder: (task: () => Promise<void> | void) => Promise<void>;
  readonly log: EventLog;
}

/**
 * One connection of a sender. It is never written to, and ended when the sender has ended it and everything
 * it brought is handled: for the sender that end means that the message was received.
 */
export class Connection<Peer> {
  readonly #options: ConnectionOptions<Peer>;
  readonly #lines = new LineSplitter(LIMITS.frameChars);
  #isAuthed = false;
  #isStopped = false;
  #pendingChars = 0;
  #handled: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ConnectionOptions<Peer>) {
    this.#options = options;
    const { socket } = options;
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.once('end', () => this.#onEnd());
    socket.on('error', (error) => this.#log('connection-failed', { code: errorCode(error) }));
    socket.once('close', () => this.#setTimer(null));
    this.#setTimer(LIMITS.lineTimeoutMs, this.#onLineTimeout);
  }

  get peer(): Peer | null {
    return this.#options.peer;
  }

  /** Reads no more; what was read is still handled, then the connection is gone. */
  stop(): void {
    this.#isStopped = true;
    this.#options.socket.pause();
    this.#setTimer(null);
    void this.#handled.then(() => this.#options.socket.destroy());
  }

  #onData(chunk: Buffer): void {
    if (this.#isStopped) return;
    let hasFrames = false;
    for (const line of this.#lines.push(chunk)) hasFrames = this.#onLine(line) || hasFrames;
    if (this.#lines.overflowed) this.#onTooLong();
    else if (hasFrames) this.#setTimer(LIMITS.lineTimeoutMs, this.#onLineTimeout);
  }

  /** The sender has said everything. A last line without its newline counts as one. */
  #onEnd(): void {
    if (this.#isStopped) return;
    for (const line of this.#lines.end()) this.#onLine(line);
    this.#setTimer(LIMITS.recordMs, this.#onSlowHandler);
    void this.#handled.then(() => this.#end());
  }

  /** Whether the line was a frame: a blank line, or one that means nothing, keeps no connection open. */
  #onLine(line: string): boolean {
    if (line.trim() === '') return false;
    const frame = parseFrame(line);
    const { handlers, token } = this.#options;
    switch (frame.type) {
      case 'auth':
        this.#isAuthed = isSameToken(frame.token, token);
        if (!this.#isAuthed) this.#log('wrong-token', {});
        return true;
      case 'user': {
        const { message } = frame;
        const { peer } = this.#options;
        this.#handle(
          line.length,
          this.#isAuthed
            ? () => handlers.onMessage(message, { authed: true, peer })
            : () => handlers.onRefused(message, { authed: false, peer }),
        );
        return true;
      }
      case 'control': {
        const sender = this.#sender();
        this.#handle(line.length, () => handlers.onControl(frame.control, sender));
        return true;
      }
      case 'ignored':
        this.#log('frame-ignored', { reason: frame.reason });
        return false;
    }
  }

  /** The rest of the line stays unread, so that the sender's write fails instead of looking like a success. */
  #onTooLong(): void {
    const msgId = msgIdIn(this.#lines.rest);
    const sender = this.#sender();
    this.#log('line-too-long', { maxChars: LIMITS.frameChars, msgId });
    this.#handle(0, () => this.#options.handlers.onTooLong?.(msgId, sender));
    this.stop();
  }

  #handle(chars: number, task: () => Promise<void> | void): void {
    const { socket, inOrder } = this.#options;
    this.#pendingChars += chars;
    if (this.#pendingChars > LIMITS.frameChars) socket.pause();
    this.#handled = inOrder(task).then(() => {
      this.#pendingChars -= chars;
      if (this.#pendingChars <= LIMITS.frameChars && !this.#isStopped) socket.resume();
    });
  }

  #sender(): SenderContext<Peer> {
    return { authed: this.#isAuthed, peer: this.#options.peer };
  }

  readonly #onLineTimeout = (): void => {
    this.#log('line-timeout', { chars: this.#lines.rest.length });
    this.stop();
  };

  readonly #onSlowHandler = (): void => {
    this.#log('handler-slow', { afterMs: LIMITS.recordMs });
    this.#end();
  };

  #end(): void {
    this.#setTimer(null);
    this.#options.socket.end();
  }

  #setTimer(delayMs: number | null, onTime: () => void = () => {}): void {
    clearTimeout(this.#timer);
    this.#timer = delayMs === null ? undefined : setTimeout(onTime, delayMs);
  }

  #log(event: string, fields: Record<string, unknown>): void {
    this.#options.log.write(event, fields);
  }
}

/** Takes the same time whatever the tokens share. */
function isSameToken(given: string, own: string): boolean {
  const digest = (token: string) => createHash('sha256').update(token).digest();
  return timingSafeEqual(digest(given), digest(own));
}

/** Claude Code 2.1.332 writes the id before the content, so it can be read from a line that never ends. */
function msgIdIn(head: string): string | null {
  const msgId = /^\{[^{}]{0,200}?"msg_id":"([\w-]+)"/.exec(head)?.[1];
  return msgId !== undefined && msgId.length <= LIMITS.msgIdChars ? msgId : null;
}
