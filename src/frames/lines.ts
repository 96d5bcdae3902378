/**
 * Splits a byte stream into lines of UTF-8 text. However the bytes are cut into chunks, the lines are the
 * same; bytes that are no UTF-8 become U+FFFD. A line whose characters with the newline exceed `maxChars`
 * ends the splitting: `overflowed` is true from then on and no further line comes.
 */
export class LineSplitter {
  readonly #maxChars: number;
  readonly #decoder = new TextDecoder();
  #rest = '';
  #overflowed = false;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  get overflowed(): boolean {
    return this.#overflowed;
  }

  /** What has come of the line that is not complete yet; after an overflow at most `maxChars` of its beginning. */
  get rest(): string {
    return this.#rest;
  }

  /** The lines this chunk completes, without their newlines. */
  push(chunk: Uint8Array): string[] {
    return this.#split(this.#decoder.decode(chunk, { stream: true }));
  }

  /** The last line, when the stream ended without a newline. */
  end(): string[] {
    const lines = this.#split(this.#decoder.decode());
    if (this.#rest === '' || this.#overflowed) return lines;
    lines.push(this.#rest);
    this.#rest = '';
    return lines;
  }

  #split(text: string): string[] {
    const lines: string[] = [];
    if (this.#overflowed) return lines;
    const parts = text.split('\n');
    for (const [index, part] of parts.entries()) {
      this.#rest += part;
      if (this.#rest.length + 1 > this.#maxChars) {
        this.#overflowed = true;
        this.#rest = this.#rest.slice(0, this.#maxChars);
        return lines;
      }
      if (index === parts.length - 1) break;
      lines.push(this.#rest);
      this.#rest = '';
    }
    return lines;
  }
}
