/**
 * Claude Code puts a backslash behind the `<` of every mark in a body that could pass for its own framing.
 * Measured on 2.1.332: without case; with anything but letters and digits between `<` and the name; with
 * look-alike letters, hyphens and angle brackets; with invisible characters inside the name; not when the
 * name goes on (`<agent-messages`), not when the backslash is already there.
 */
const MARKS = ['cross-session-message', 'agent-message', 'teammate-message'];

const LOOKALIKES: Readonly<Record<string, string>> = {
  '-': '_\\-\\p{Pd}\u2212',
  a: 'a\u0430\u03b1',
  c: 'c\u0441',
  e: 'e\u0435',
  i: 'i\u0456\u03b9',
  o: 'o\u043e\u03bf',
  s: 's\u0455',
};

const ANGLES = '<\uff1c\u2039\u2329\u27e8\u3008';

const NAME = MARKS.map((mark) => [...mark].map(anyShapeOf).join('[\\p{M}\\p{Cf}]*')).join('|');
const REACH = `[^\\p{L}\\p{N}${ANGLES}]*(?:${NAME})(?![A-Za-z0-9_-])`;
const BARE = new RegExp(`[${ANGLES}](?!\\\\)(?=${REACH})`, 'giu');
const ESCAPED = new RegExp(`<\\\\(?!\\\\)(?=${REACH})`, 'giu');

function anyShapeOf(char: string): string {
  const fullWidth = String.fromCharCode(char.charCodeAt(0) + 0xfee0);
  return `[${LOOKALIKES[char] ?? char}${fullWidth}]`;
}

/** Takes from every mark in `text` the power to open or close an envelope. */
export function escapeMarks(text: string): string {
  return text.replace(BARE, '<\\');
}

/** Gives escaped marks back their shape; look-alike brackets stay plain ones. */
export function unescapeMarks(text: string): string {
  return text.replace(ESCAPED, '<');
}
