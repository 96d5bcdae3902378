const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const GAP = 2;

export interface Column {
  readonly title: string;
  /** It gives up characters down to this width when the table is too wide; columns further left keep theirs longer. */
  readonly minWidth: number;
  /** Which end is cut off. */
  readonly cut: 'left' | 'right';
}

/** Lays out cells without control characters in lines of at most `width` terminal columns. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const lines = [columns.map((column) => column.title), ...rows];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => textWidth(line[index] ?? ''))));
  shrink(columns, widths, width);
  return lines
    .map((line) => columns.map((column, index) => padded(line[index] ?? '', widths[index] ?? 0, column.cut)))
    .map((cells) => cells.join(' '.repeat(GAP)).trimEnd());
}

function shrink(columns: readonly Column[], widths: number[], width: number): void {
  let excess = widths.reduce((sum, one) => sum + one + GAP, -GAP) - width;
  for (let index = columns.length - 1; index >= 0 && excess > 0; index--) {
    const own = widths[index] ?? 0;
    const given = Math.min(excess, Math.max(0, own - (columns[index]?.minWidth ?? 0)));
    widths[index] = own - given;
    excess -= given;
  }
}

/** Terminal columns a text takes; marks take none, East Asian wide characters and emoji two. */
export function textWidth(text: string): number {
  let width = 0;
  for (const char of text) width += /\p{M}/u.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return width;
}

function padded(text: string, width: number, cut: 'left' | 'right'): string {
  const shown = textWidth(text) <= width ? text : cutTo(text, width, cut);
  return shown + ' '.repeat(Math.max(0, width - textWidth(shown)));
}

function cutTo(text: string, width: number, cut: 'left' | 'right'): string {
  const chars = cut === 'left' ? [...text].reverse() : [...text];
  const kept: string[] = [];
  let used = 1;
  for (const char of chars) {
    used += textWidth(char);
    if (used > width) break;
    kept.push(char);
  }
  return cut === 'left' ? `…${kept.reverse().join('')}` : `${kept.join('')}…`;
}
