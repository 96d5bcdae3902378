import { randomUUID } from 'node:crypto';
import type { ControlResult, ToolParams } from '../control/protocol.ts';
import { PeerError } from '../errors.ts';
import { hopToken } from '../frames/hops.ts';
import type { FromMode } from '../frames/message.ts';
import { Pace } from '../frames/pace.ts';
import { type FrameServer, serveFrames } from '../frames/serve.ts';
import type { HarnessEvent, HarnessThread, ThreadSettings, ToolResult } from '../harness/harness.ts';
import type { Log } from '../os/log.ts';
import { ReplayWindow } from '../queue/replay.ts';
import type { Publication } from '../registry/publish.ts';
import type { Message, MessageRecord, Outcome, Restored } from '../store/record.ts';
import { givenText } from './given-text.ts';
import { IdleNotices } from './idle-notices.ts';
import { Inbound } from './inbound.ts';
import { Outbox } from './outbox.ts';
import { Replies } from './replies.ts';
import { rowStatus } from './row-status.ts';
import { Shell } from './shell.ts';
import type { Claim, State } from './state.ts';
import { ToolCalls } from './tool-calls.ts';
import { identify } from './verify.ts';

/** Senders and subscribers of a closing peer are told within this time. */
const TELL_MS = 2_500;

export interface PeerOptions {
  readonly name: string;
  readonly thread: HarnessThread;
  readonly socketPath: string;
  readonly token: string;
  readonly sessionsDir: string;
  readonly textsDir: string;
  readonly log: Log;
  readonly record: MessageRecord;
  /** What an earlier wrapper of this thread left undecided. */
  readonly claims: readonly Claim[];
  readonly isPaneOpen: () => boolean;
  /** Called once when the thread is gone for good. */
  readonly onGone: (cause: string) => void;
  /** Called when the record can be written no more. */
  readonly onRecordLost: (error: unknown) => void;
  /** Called once, when a first answer is held by its receiver. */
  readonly onHeld: (receiver: string) => void;
}

/** One peer while it serves: frames in, one message after the other to the thread, outcomes back. */
export class Peer {
  readonly #options: PeerOptions;
  readonly #ending = new AbortController();
  readonly #outbox: Outbox;
  readonly #shell: Shell;
  readonly #replies: Replies;
  readonly #notices: IdleNotices;
  readonly #inbound: Inbound;
  readonly #tools: ToolCalls;
  #publication: Publication | null = null;
  #server: FrameServer | null = null;

  constructor(options: PeerOptions) {
    const { name, thread, socketPath, sessionsDir, textsDir, log, record } = options;
    this.#options = options;
    const own = { socketPath, hopToken: hopToken(socketPath), fromMode: () => this.#fromMode() };
    this.#outbox = new Outbox({ sessionsDir, pace: new Pace(), log, signal: this.#ending.signal });
    this.#replies = new Replies({
      ...own,
      name,
      textsDir,
      outbox: this.#outbox,
      record,
      log,
      onHeld: (message) => options.onHeld(message.sender.name),
      isEnding: () => this.#ending.signal.aborted,
      onIdle: () => this.#notices.changed(),
    });
    this.#notices = new IdleNotices({ ...own, outbox: this.#outbox, isQuiet: () => this.#isQuiet() });
    this.#shell = new Shell({
      thread,
      record,
      log,
      claims: options.claims,
      onRecordLost: options.onRecordLost,
      frame: (message) => this.#tools.withNews(message, givenText(message, options)),
      onOutcome: (message, outcome) => this.#onOutcome(message, outcome),
      onState: (state) => this.#onState(state),
    });
    this.#tools = new ToolCalls({
      ...own,
      name,
      sessionsDir,
      outbox: this.#outbox,
      log,
      thread,
      state: () => this.#shell.state,
      message: (id) => record.message(id),
      claimCall: (callId) => record.claimCall(callId),
      receive: (message) => void this.#shell.receive(message).catch(options.onRecordLost),
    });
    this.#inbound = new Inbound({
      ...own,
      replay: new ReplayWindow(),
      outbox: this.#outbox,
      log,
      receive: (message) => this.#tools.receiving(message, this.#shell.receive(message)),
      turnAway: (message, error) => this.#replies.turnAway(message, error),
      subscribe: (subscription) => this.#notices.subscribe(subscription),
      takes: (message, mark, from) => this.#tools.takes(message, mark, from),
      onReceipt: (receipt, from) => {
        this.#replies.receipt(receipt, from);
        this.#tools.onReceipt(receipt, from);
      },
      onIdleNotice: (notice, from) => this.#tools.onIdleNotice(notice, from),
    });
    thread.listen((event) => this.#onEvent(event));
  }

  get settings(): ThreadSettings | null {
    return this.#shell.state.settings;
  }

  /** Binds the socket; from now on messages are taken. */
  async serve(): Promise<void> {
    const { socketPath, token, sessionsDir, log } = this.#options;
    const inbound = this.#inbound;
    this.#server = await serveFrames({
      socketPath,
      token,
      log,
      identify: (socket) => identify(socket, sessionsDir),
      onMessage: (frame, { peer }) => inbound.message(frame, peer),
      onRefused: (frame, { peer }) => inbound.refuse(frame.msgId, peer, 'token'),
      onControl: (control, { peer }) => inbound.control(control, peer),
      onTooLong: (msgId, { peer }) => inbound.tooLong(msgId, peer),
    });
  }

  /** Tells the senders of what an earlier wrapper decided and did not tell, or left in another thread. */
  async resume({ untold, halfTold, foreign }: Restored): Promise<void> {
    const { record } = this.#options;
    for (const { message, outcome } of untold) this.#replies.tell(message, outcome);
    for (const { message, outcome } of halfTold) this.#replies.tellOfHalfTold(message, outcome);
    for (const { message, isClaimed } of foreign) {
      const outcome: Outcome = isClaimed
        ? { state: 'unknown' }
        : { state: 'refused', reason: 'replaced', detail: '' };
      if (await record.outcome(message.id, outcome)) this.#replies.tell(message, outcome);
    }
  }

  /** Makes the row follow the thread from now on. */
  publish(publication: Publication): void {
    this.#publication = publication;
    this.#onState(this.#shell.state);
  }

  status(): ControlResult<'status'> {
    const { name, thread } = this.#options;
    const { phase, queue, claims } = this.#shell.state;
    const { refused } = this.#inbound;
    return { name, threadId: thread.id, state: phase, queued: queue.length, claims: claims.length, refused };
  }

  /** A tool call of the thread's model that came through a process of ours. Rejects when the signal aborts. */
  async toolCall({ threadId, tool, ...call }: ToolParams, signal: AbortSignal): Promise<ToolResult> {
    const { name, thread } = this.#options;
    if (threadId !== thread.id) {
      throw new PeerError('refused', `Nothing was done: ${name} serves another thread.`);
    }
    const { callId = randomUUID(), turnId = this.#shell.state.newestTurnId ?? '' } = call;
    return this.#tools.fromControl({ callId, turnId, tool, arguments: call.arguments }, signal);
  }

  /** Gives every open message its outcome and tells senders and subscribers, while the socket vouches for us. */
  async settle(): Promise<void> {
    this.#tools.close();
    await this.#shell.close();
    // A note comes before the notice that its writer is gone.
    await this.#replies.settled();
    this.#notices.close();
    await this.#told();
  }

  /** Takes the socket away. Who was heard meanwhile is told too. */
  async close(): Promise<void> {
    await this.#server?.close();
    await this.#told();
  }

  async #told(): Promise<void> {
    const timer = setTimeout(() => this.#ending.abort(), TELL_MS);
    await this.#replies.settled();
    await this.#outbox.settled();
    await this.#replies.settled();
    clearTimeout(timer);
  }

  #onEvent(event: HarnessEvent): void {
    if (event.type === 'tool-call' || event.type === 'tool-ended') return this.#tools.onEvent(event);
    if (event.type === 'disconnected') this.#tools.onDisconnected();
    if (event.type === 'turn-ended') this.#notices.turnEnded({ finishedAtMs: Date.now(), answer: null });
    this.#shell.take(event);
    if (event.type === 'gone') this.#options.onGone(event.cause);
  }

  #onOutcome(message: Message, outcome: Outcome): void {
    this.#replies.tell(message, outcome);
    this.#tools.onOutcome(message);
    if (outcome.state === 'answered') {
      this.#notices.turnEnded({ finishedAtMs: Date.now(), answer: outcome.text });
    }
  }

  #onState(state: State): void {
    const { settings } = state;
    const { status, waitingFor } = rowStatus(state);
    this.#publication?.update({
      status,
      waitingFor: waitingFor ?? undefined,
      ...(settings === null
        ? {}
        : { model: settings.model ?? undefined, effort: settings.effort ?? undefined, cwd: settings.cwd }),
    });
    this.#notices.changed();
    this.#tools.onState();
  }

  #isQuiet(): boolean {
    const isIdle = rowStatus(this.#shell.state).status === 'idle';
    return isIdle && this.#replies.isIdle && this.#outbox.isEmpty;
  }

  #fromMode(): FromMode {
    return isBypass(this.#shell.state.settings) ? 'bypass' : 'prompting';
  }
}

/** Full access and never ask: what Claude Code calls bypassing permissions. */
function isBypass(settings: ThreadSettings | null): boolean {
  return settings?.sandbox === 'danger-full-access' && settings.approval === 'never';
}
