import { EXIT } from '../errors.ts';

/** Why a peer ends; the first cause wins and is recorded once. */
export interface End {
  readonly cause: Promise<string>;
  /** Aborted with the first cause: every wait of an opening peer ends with it. */
  readonly signal: AbortSignal;
  /** The first cause, once there is one. */
  readonly first: string | null;
  /** What the command ends with; 0 for every end that somebody wanted. */
  readonly exitCode: number;
  because(cause: string, exitCode?: number): void;
}

export function endRace(): End {
  const controller = new AbortController();
  let first: string | null = null;
  let exitCode: number = EXIT.ok;
  let settle: (cause: string) => void = () => {};
  const cause = new Promise<string>((resolve) => {
    settle = resolve;
  });
  return {
    cause,
    signal: controller.signal,
    get first() {
      return first;
    },
    get exitCode() {
      return exitCode;
    },
    because(next, code = EXIT.ok) {
      if (first !== null) return;
      first = next;
      exitCode = code;
      settle(next);
      controller.abort(new Error(next));
    },
  };
}

const CAUSES = {
  SIGHUP: 'its window was closed',
  SIGTERM: 'it was told to (SIGTERM)',
  SIGINT: 'Ctrl-C',
} as const;

/**
 * Signals end the peer; while `isPaneOpen`, SIGINT is the TUI's. Returns what takes the listeners off again: after
 * that a second signal ends the process at once.
 */
export function endOnSignals(end: End, isPaneOpen: () => boolean): () => void {
  const listeners = Object.entries(CAUSES).map(([signal, cause]) => {
    const listener = () => {
      if (signal !== 'SIGINT' || !isPaneOpen()) end.because(cause);
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return () => {
    for (const off of listeners) off();
  };
}
