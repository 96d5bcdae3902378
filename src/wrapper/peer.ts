import { hopToken } from '../frames/hops.ts';
import { Pace } from '../frames/pace.ts';
import { type FrameServer, serveFrames } from '../frames/serve.ts';
import type { HarnessThread, ThreadSettings } from '../harness/harness.ts';
import { LIMITS } from '../limits.ts';
import type { Log } from '../os/log.ts';
import { ReplayWindow } from '../queue/replay.ts';
import type { Publication } from '../registry/publish.ts';
import { memoryRecord } from '../store/memory.ts';
import type { Message, MessageRecord } from '../store/record.ts';
import { framed } from './framing.ts';
import { takeMessage } from './inbound.ts';
import { Replies } from './replies.ts';
import { rowStatus } from './row-status.ts';
import { Shell } from './shell.ts';
import { excerpt, spill } from './spill.ts';
import type { State } from './state.ts';

/** Senders of a closing peer are told within this time. */
const TELL_MS = 2_500;

export interface PeerOptions {
  readonly name: string;
  readonly thread: HarnessThread;
  readonly socketPath: string;
  readonly token: string;
  readonly sessionsDir: string;
  readonly textsDir: string;
  readonly log: Log;
  readonly isPaneOpen: () => boolean;
  /** Called once when the thread is gone for good. */
  readonly onGone: (cause: string) => void;
}

/** One peer while it serves: frames in, one message after the other to the thread, outcomes back. */
export class Peer {
  readonly #options: PeerOptions;
  readonly #record: MessageRecord = memoryRecord();
  readonly #replay = new ReplayWindow();
  readonly #shell: Shell;
  readonly #replies: Replies;
  readonly #ending = new AbortController();
  readonly #hopToken: string;
  #publication: Publication | null = null;
  #server: FrameServer | null = null;

  constructor(options: PeerOptions) {
    const { name, thread, socketPath, sessionsDir, textsDir, log } = options;
    this.#options = options;
    this.#hopToken = hopToken(socketPath);
    this.#replies = new Replies({
      name,
      socketPath,
      sessionsDir,
      textsDir,
      hopToken: this.#hopToken,
      fromMode: () => (isBypass(this.#shell.state.settings) ? 'bypass' : 'prompting'),
      pace: new Pace(),
      record: this.#record,
      log,
      signal: this.#ending.signal,
    });
    this.#shell = new Shell({
      thread,
      record: this.#record,
      log,
      frame: (message) => this.#frame(message),
      onOutcome: (message, outcome) => this.#replies.tell(message, outcome),
      onState: (state) => this.#show(state),
    });
    thread.listen((event) => {
      this.#shell.take(event);
      if (event.type === 'gone') options.onGone(event.cause);
    });
  }

  get settings(): ThreadSettings | null {
    return this.#shell.state.settings;
  }

  /** Binds the socket; from now on messages are taken. */
  async serve(): Promise<void> {
    const { socketPath, token, sessionsDir, log } = this.#options;
    const inbound = {
      sessionsDir,
      hopToken: this.#hopToken,
      replay: this.#replay,
      log,
      receive: (message: Message) => this.#shell.receive(message),
    };
    this.#server = await serveFrames({
      socketPath,
      token,
      log,
      onMessage: (frame) => takeMessage(frame, inbound),
      onRefused: (frame) => log.write('refused', { reason: 'token', msgId: frame.msgId }),
      onControl: (control) => log.write('control-ignored', { action: control.action }),
      onTooLong: (msgId) => log.write('refused', { reason: 'frame-too-long', msgId }),
    });
  }

  /** Makes the row follow the thread from now on. */
  publish(publication: Publication): void {
    this.#publication = publication;
    this.#show(this.#shell.state);
  }

  /** Gives every open message its outcome and tells the senders, while the socket still vouches for us. */
  async settle(): Promise<void> {
    this.#shell.close();
    const timer = setTimeout(() => this.#ending.abort(), TELL_MS);
    await this.#replies.settled();
    clearTimeout(timer);
  }

  /** Takes the socket away. */
  async close(): Promise<void> {
    await this.#server?.close();
    this.#record.close();
  }

  #frame(message: Message): string {
    const { isPaneOpen, textsDir, log } = this.#options;
    const isLong = Buffer.byteLength(message.text) > LIMITS.paneBodyBytes;
    if (!isLong || !isPaneOpen()) return framed(message);
    try {
      const file = spill(textsDir, `message-${message.id}`, message.text);
      return framed(message, excerpt(message.text, file, LIMITS.paneBodyHeadBytes));
    } catch (error) {
      // Slow in the pane, but whole.
      log.write('spill-failed', { id: message.id, error: String(error) });
      return framed(message);
    }
  }

  #show(state: State): void {
    const { settings } = state;
    const { status, waitingFor } = rowStatus(state);
    this.#publication?.update({
      status,
      waitingFor: waitingFor ?? undefined,
      ...(settings === null
        ? {}
        : { model: settings.model ?? undefined, effort: settings.effort ?? undefined, cwd: settings.cwd }),
    });
  }
}

/** Full access and never ask: what Claude Code calls bypassing permissions. */
function isBypass(settings: ThreadSettings | null): boolean {
  return settings?.sandbox === 'danger-full-access' && settings.approval === 'never';
}
