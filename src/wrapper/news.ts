import { LIMITS } from '../limits.ts';

interface Line {
  /** The message of ours it is about; a later line about the same one takes its place. */
  readonly about: string | null;
  readonly text: string;
  /** It may start a turn of its own. */
  readonly wakes: boolean;
}

/** What the model is told about its own messages after the calls that sent them: with its next message, as a rule. */
export class News {
  /** What was put in front of a message that may have to be handed over again. */
  readonly #given = new Map<string, string>();
  #lines: readonly Line[] = [];
  #forgotten = 0;

  add(line: Line): void {
    const others = this.#lines.filter(({ about }) => about === null || about !== line.about);
    const isAwaited = this.#lines.some(({ about, wakes }) => wakes && about !== null && about === line.about);
    const lines = [...others, isAwaited ? { ...line, wakes: true } : line];
    this.#forgotten += Math.max(0, lines.length - LIMITS.newsLines);
    this.#lines = lines.slice(-LIMITS.newsLines);
  }

  /** The text of a message with the news in front; of the same message again, with the same news and what is newer. */
  before(messageId: string, text: string): string {
    // A message just below the cap must not be lost for the sake of news.
    if (text.length + LIMITS.newsChars > LIMITS.codexInputChars) return text;
    const lines = this.#take();
    const fresh =
      lines.length === 0 ? '' : `While you were away:\n${lines.map((one) => `- ${one}\n`).join('')}\n`;
    const given = `${this.#given.get(messageId) ?? ''}${fresh}`;
    if (given !== '') this.#given.set(messageId, given);
    return `${given}${text}`;
  }

  /** The message has its outcome and is not handed over again. */
  settled(messageId: string): void {
    this.#given.delete(messageId);
  }

  /** The text of a turn of its own, when something is there that may start one. */
  wake(): string | null {
    if (!this.#lines.some(({ wakes }) => wakes)) return null;
    const lines = this.#take();
    return `[Delivery notice] ${lines.join('\n')}\nNothing you write here is sent to anybody.`;
  }

  #take(): readonly string[] {
    const lines = this.#lines.map(({ text }) => text);
    if (this.#forgotten > 0) lines.unshift(`(${this.#forgotten} older lines are left out.)`);
    this.#lines = [];
    this.#forgotten = 0;
    return lines;
  }
}
