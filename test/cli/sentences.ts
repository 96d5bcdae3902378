/** A stack trace, which no person should meet. */
export const HAS_STACK = /^\s+at /m;

/** Characters that move the cursor, begin an escape sequence or turn text around. */
export const HAS_TERMINAL_CONTROLS = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;
