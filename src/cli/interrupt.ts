/** With their numbers. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type Signal = keyof typeof SIGNALS;
const NAMES: readonly Signal[] = ['SIGHUP', 'SIGINT', 'SIGTERM'];

/** A signal ended the command; `exitCode` is the shell's 128 + number. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: Signal) {
    super(`ended by ${signal}`);
    this.name = 'Interrupted';
    this.exitCode = 128 + SIGNALS[signal];
  }
}

/** Runs `work` with a signal that aborts, `Interrupted` as its reason, when somebody ends the command. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => controller.abort(new Interrupted(name as Signal));
  for (const name of NAMES) process.on(name, onSignal);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of NAMES) process.off(name, onSignal);
  }
}
