/** Codex starts the recovery turns of a restarted daemon within this time (0.171.0: 13 of 13 restarts). */
export const RECOVERY_MS = 5_000;
/** An acknowledged message whose turn ended without its item is looked for in newer turns so long. */
export const ABSENCE_MS = 2_000;
/** `turn/completed` can be lost; the idle status is the second signal, this long after it. */
export const IDLE_READ_MS = 1_000;
/** Pause after a refusal that only time can cure. */
export const RETRY_MS = 500;
/** Pause after a read-back that failed while the connection stands. */
export const READ_AGAIN_MS = 1_000;
