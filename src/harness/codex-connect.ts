import { errorMessage, PeerError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { Failure } from './codex-failure.ts';

const POLL_MS = 100;
/** A killed daemon is started again after this: its owner may be about to. */
const START_AFTER_CRASH_MS = 3_000;
/** A stopped daemon is started only for a message, so that a person can stop it. */
const START_AFTER_STOP_MS = 5_000;
const START_AGAIN_MS = 10_000;
const BLOCKED_RETRY_MS = 2_000;
/** How long `open` tries on after it has started the daemon. */
const OPEN_MS = 10_000;

interface Clock {
  now(): number;
  /** Rejects when the signal is aborted. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = { now: Date.now, sleep };

export interface ConnectPorts {
  /** One try to have the thread ready; `startedByUs` says that this loop started the daemon. */
  attempt(startedByUs: boolean): Promise<void>;
  classify(error: unknown): Failure;
  /** Resolves with whether the daemon was really started by this. */
  startDaemon(): Promise<boolean>;
  messageWaits(): boolean;
  /** Why the thread is not ready, for the row. */
  waiting(waitingFor: string): void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Has the thread ready at `open`: starts an absent daemon once, waits for one that drains. Rejects with the
 * PeerError a person should see.
 */
export async function connectAtOpen(ports: ConnectPorts): Promise<void> {
  const { clock, signal } = ports;
  let deadline = clock.now() + OPEN_MS;
  let drainedAt: number | null = null;
  let drainingSince: number | null = null;
  let hasStarted = false;
  let isStartedByUs = false;
  for (;;) {
    const failure = await tryOnce(ports, isStartedByUs);
    if (failure === null) return;
    const now = clock.now();
    if (failure.kind === 'blocked' || failure.kind === 'gone') throw failure.error;
    if (failure.kind === 'draining') {
      drainingSince ??= now;
      drainedAt = now;
      deadline = now + OPEN_MS;
      if (now - drainingSince > LIMITS.openDrainMs) throw drainsTooLong();
      ports.waiting('daemon restart');
    } else if (failure.kind !== 'dropped' && !hasStarted) {
      const isRestarting = drainedAt !== null && now - drainedAt < START_AFTER_CRASH_MS;
      if (!isRestarting) {
        hasStarted = true;
        isStartedByUs = await ports.startDaemon();
        deadline = clock.now() + OPEN_MS;
      }
    }
    if (clock.now() > deadline) throw unreachable();
    await clock.sleep(POLL_MS, signal);
  }
}

/**
 * Has the thread ready again after a lost connection, however long it takes. Resolves with the cause when
 * the thread is gone for good, with null when it is ready; rejects only when the signal is aborted.
 */
export async function reconnect(ports: ConnectPorts): Promise<string | null> {
  const { clock, signal } = ports;
  let kind: Failure['kind'] | null = null;
  let kindSince = clock.now();
  let nextStartAt = 0;
  let isStartedByUs = false;
  for (;;) {
    const failure = await tryOnce(ports, isStartedByUs);
    if (failure === null) return null;
    if (failure.kind === 'gone') return failure.cause;
    const now = clock.now();
    if (failure.kind !== kind) {
      kind = failure.kind;
      kindSince = now;
    }
    ports.waiting(waitingFor(failure));
    if (now >= nextStartAt && mayStart(failure, now - kindSince, ports.messageWaits())) {
      isStartedByUs = (await startAgain(ports)) || isStartedByUs;
      nextStartAt = clock.now() + START_AGAIN_MS;
    }
    await clock.sleep(failure.kind === 'blocked' ? BLOCKED_RETRY_MS : POLL_MS, signal);
  }
}

function mayStart(failure: Failure, sinceMs: number, isMessageWaiting: boolean): boolean {
  if (failure.kind === 'refused') return sinceMs >= START_AFTER_CRASH_MS;
  return failure.kind === 'absent' && isMessageWaiting && sinceMs >= START_AFTER_STOP_MS;
}

function waitingFor(failure: Failure): string {
  if (failure.kind === 'draining') return 'daemon restart';
  if (failure.kind === 'blocked' || failure.kind === 'gone') return failure.error.message;
  return 'Codex daemon';
}

async function tryOnce(ports: ConnectPorts, isStartedByUs: boolean): Promise<Failure | null> {
  ports.signal.throwIfAborted();
  try {
    await ports.attempt(isStartedByUs);
    return null;
  } catch (error) {
    ports.signal.throwIfAborted();
    return ports.classify(error);
  }
}

async function startAgain(ports: ConnectPorts): Promise<boolean> {
  try {
    return await ports.startDaemon();
  } catch (error) {
    ports.waiting(errorMessage(error));
    return false;
  }
}

function unreachable(): PeerError {
  return new PeerError(
    'daemon-unreachable',
    'The Codex daemon was started but cannot be reached, so nothing was opened. `codex app-server daemon version` says more.',
  );
}

function drainsTooLong(): PeerError {
  return new PeerError(
    'daemon-draining',
    'The Codex daemon is finishing a turn before it restarts and takes no new work. Nothing was opened; try again when that turn is over, or stop the daemon with `codex app-server daemon stop`.',
  );
}

function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const timer = setTimeout(done, delayMs);
    signal.addEventListener('abort', aborted, { once: true });
    function done(): void {
      signal.removeEventListener('abort', aborted);
      resolve();
    }
    function aborted(): void {
      clearTimeout(timer);
      reject(signal.reason);
    }
  });
}
