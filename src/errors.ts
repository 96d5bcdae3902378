/**
 * Exit codes of the `peer` command. The table in docs/states.md is made from this one.
 * 0 done or answered; 124 and 130 follow timeout(1) and the shell.
 */
export const EXIT = {
  ok: 0,
  internal: 1,
  usage: 2,
  noSuchPeer: 3,
  refused: 4,
  held: 5,
  noAnswer: 6,
  unknownOutcome: 7,
  unavailable: 8,
  store: 9,
  taken: 10,
  timeout: 124,
  interrupted: 130,
} as const;

/** Error words of our own and the exit code each ends a command with. */
const ERROR_EXIT = {
  usage: EXIT.usage,
  'bad-name': EXIT.usage,
  'no-such-peer': EXIT.noSuchPeer,
  'ambiguous-peer': EXIT.noSuchPeer,
  'not-sent': EXIT.unavailable,
  'maybe-written': EXIT.unknownOutcome,
  refused: EXIT.refused,
  held: EXIT.held,
  'no-answer': EXIT.noAnswer,
  'unknown-outcome': EXIT.unknownOutcome,
  'peer-gone': EXIT.unavailable,
  'codex-not-found': EXIT.unavailable,
  'daemon-unreachable': EXIT.unavailable,
  'daemon-draining': EXIT.unavailable,
  'connection-closed': EXIT.unavailable,
  'thread-unavailable': EXIT.unavailable,
  'rights-too-wide': EXIT.unavailable,
  'unsafe-folder': EXIT.unavailable,
  'folder-unreadable': EXIT.unavailable,
  'pane-unavailable': EXIT.unavailable,
  'native-missing': EXIT.unavailable,
  'still-running': EXIT.unavailable,
  'store-busy': EXIT.store,
  'store-failed': EXIT.store,
  'name-taken': EXIT.taken,
  'thread-taken': EXIT.taken,
  'untrusted-folder': EXIT.refused,
  interrupted: EXIT.interrupted,
  internal: EXIT.internal,
} as const satisfies Record<string, number>;

export type ErrorWord = keyof typeof ERROR_EXIT;

export const ERROR_WORDS = Object.keys(ERROR_EXIT) as readonly ErrorWord[];

/**
 * A failure of ours that a person may see. The message says in one or two lines what happened,
 * what it means for their message, and what to do next; it never holds a token.
 */
export class PeerError extends Error {
  readonly word: ErrorWord;

  constructor(word: ErrorWord, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'PeerError';
    this.word = word;
  }

  get exitCode(): number {
    return ERROR_EXIT[this.word];
  }
}

/** The `code` of a system error (`ENOENT`, `ECONNREFUSED`, …), or undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The message of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
