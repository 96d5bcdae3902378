/** C0, DEL and C1 are `Cc`; then bidi marks and overrides, line and paragraph separators. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * Makes a foreign string safe for a terminal line: characters that would move the cursor, begin an escape
 * sequence, break the line or reorder text are shown as `\u{1b}`. Line feeds and tabs too: a name with a
 * line feed must not look like two entries.
 */
export function forTerminal(text: string): string {
  return text.replace(UNSAFE, visible);
}

/**
 * A foreign string as one safe line of at most `max` characters: white space becomes single blanks, unsafe
 * characters are made visible, a cut is shown by `…`.
 */
export function oneLine(text: string, max: number): string {
  let line = '';
  let length = 0;
  // Only the head can be shown, so a megabyte is not looked through.
  for (const character of text
    .slice(0, max * 16)
    .trim()
    .replace(/\s+/gu, ' ')) {
    const shown = forTerminal(character);
    if (length + shown.length > max) return `${cutTo(line, max - 1)}…`;
    line += shown;
    length += shown.length;
  }
  return line;
}

/** A peer's name as one word of a command that a person copies: of what a shell reads it can hold only blanks. */
export function shellWord(name: string): string {
  return name.includes(' ') ? `"${name}"` : name;
}

function visible(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`;
}

function cutTo(line: string, max: number): string {
  let cut = '';
  for (const character of line) {
    if (cut.length + character.length > max) break;
    cut += character;
  }
  return cut;
}
