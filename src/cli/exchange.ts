import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage, PeerError } from '../errors.ts';
import type { InboundControl, InboundMessage, Priority } from '../frames/message.ts';
import { listenerOf, loadPeerCredentials } from '../os/peer-credentials.ts';
import { isSameProcess, pidDomain } from '../os/proc.ts';
import { isReachable } from '../registry/live.ts';
import type { Row } from '../registry/row.ts';
import { type Connecting, isFrom } from '../wrapper/verify.ts';
import { deliver, subscribe } from './deliver.ts';
import { type AskEnding, type Asked, endingByControl, endingByMessage, gone, shortId } from './ending.ts';
import { type Guest, openGuest } from './guest.ts';
import { type Io, say } from './io.ts';
import { senderName } from './sender.ts';
import type { Target } from './target.ts';

const ALIVE_POLL_MS = 1_000;
/** A peer that ends writes its notes first; those on their way are still read. */
const LAST_FRAMES_MS = 250;
/** A receipt comes 1–18 ms after the write when there is one (Claude Code 2.1.332). */
const RECEIPT_MS = 1_000;

export interface ExchangeOptions {
  readonly target: Target;
  readonly asked: Asked;
  readonly text: string;
  readonly priority: Priority;
  /** Wait for the answer, or only as long as a receipt may take. */
  readonly until: 'answer' | 'receipt';
  readonly io: Io;
  readonly signal: AbortSignal;
}

/**
 * Sends one message as a peer for a moment and waits for what becomes of it. Null: written, and no receipt came.
 *
 * @throws PeerError `not-sent`, `maybe-written`; or the reason of the signal
 */
export async function exchange(options: ExchangeOptions): Promise<AskEnding | null> {
  const { target, asked, io, signal, until } = options;
  const fromName = senderName(io.env, target.rows, process.pid);
  // Listened for before the first byte goes out: a receipt can overtake the end of the write.
  const { ending, ...handlers } = listen(options);
  const life = new AbortController();
  const guest = await openGuest({ places: target.places, name: fromName, ...handlers });
  try {
    signal.throwIfAborted();
    const limit = () =>
      until === 'answer' ? untilGone(target.row, asked, life.signal) : receiptTime(life.signal);
    const outcome = write(options, fromName, guest, ending).then((explained) => explained ?? limit());
    return await Promise.race([ending, outcome, aborted(signal)]);
  } finally {
    life.abort();
    await guest.close();
  }
}

/** Only the target says what became of the message; who else knows its id is a stranger. */
function listen({ target, asked, io }: ExchangeOptions) {
  let settle: (ending: AskEnding) => void = () => {};
  const ending = new Promise<AskEnding>((resolve) => {
    settle = resolve;
  });
  return {
    ending,
    onMessage: async (message: InboundMessage, from: Connecting | null) => {
      const found = (await isTarget(target.row, from)) ? endingByMessage(asked, message) : null;
      if (found !== null) settle(found);
      // Its sender was told that it arrived, so it must not go unseen.
      else say(io, `a message came meanwhile from ${from?.row?.name ?? 'somebody'}:\n${message.text}`);
    },
    onControl: async (control: InboundControl, from: Connecting | null) => {
      const found = (await isTarget(target.row, from)) ? endingByControl(asked, control) : null;
      if (found !== null) settle(found);
    },
  };
}

/** A write that broke may still have an explanation on its way: a refusal of what was too large, for one. */
async function write(
  { target, asked, text, priority, io }: ExchangeOptions,
  fromName: string,
  guest: Guest,
  ending: Promise<AskEnding>,
): Promise<AskEnding | null> {
  const { msgId, subscriptionId } = asked;
  try {
    await deliver(target, { msgId, text, priority, fromName, from: guest.socketPath }, io.env);
  } catch (error) {
    const isUnclear = error instanceof PeerError && error.word === 'maybe-written';
    const explained = isUnclear ? await Promise.race([ending, sleep(RECEIPT_MS, null)]) : null;
    if (explained === null) throw error;
    return explained;
  }
  // Without it only the answer or the end of the process ends the wait.
  if (subscriptionId !== null) await subscribe(target, subscriptionId, guest.socketPath).catch(() => {});
  mustKnowWhoConnects(asked);
  return null;
}

/** After the write, which need not wait for it. @throws PeerError `native-missing` */
function mustKnowWhoConnects(asked: Asked): void {
  try {
    loadPeerCredentials();
  } catch (error) {
    const what = `The message (id ${shortId(asked)}) was written, but its answer could not be told from a forged one.`;
    throw new PeerError('native-missing', `${what} ${errorMessage(error)}`, { cause: error });
  }
}

/** The pid of another container means nothing here; who listens on its socket can tell. */
async function isTarget(row: Target['row'], from: Connecting | null): Promise<boolean> {
  if (from === null) return false;
  const { messagingSocketPath: socketPath, pid, procStart = null, sessionId = null } = row;
  if (isElsewhere(row)) return (await listenerOf(socketPath))?.pid === from.pid;
  return isFrom({ socketPath, pid, procStart, sessionId }, from);
}

async function untilGone(row: Row, asked: Asked, signal: AbortSignal): Promise<AskEnding> {
  while (await isThere(row)) await sleep(ALIVE_POLL_MS, null, { signal });
  await sleep(LAST_FRAMES_MS, null, { signal });
  return gone(asked);
}

/** The pid of another container means nothing here; its socket can tell. */
async function isThere(row: Row): Promise<boolean> {
  return isElsewhere(row) ? isReachable(row) : isSameProcess(row.pid, row.procStart);
}

function isElsewhere(row: Row): boolean {
  return row.pidDomain !== undefined && row.pidDomain !== pidDomain();
}

function receiptTime(signal: AbortSignal): Promise<null> {
  return sleep(RECEIPT_MS, null, { signal });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
