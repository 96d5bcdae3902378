import { isatty } from 'node:tty';
import type { HarnessThread } from '../harness/harness.ts';
import type { Log } from '../os/log.ts';
import type { End } from './end.ts';
import type { OpenOptions } from './options.ts';
import { openPane } from './pane.ts';
import { PaneKeeper } from './pane-keeper.ts';

/** The terminal `peer open` was called in: the TUI's while a pane is open, ours before and after. */
export class Terminal {
  readonly #options: Pick<OpenOptions, 'stdin' | 'stdout' | 'stderr'>;
  #keeper: PaneKeeper | null = null;
  #isOpen = false;
  #lastWords: string[] = [];

  constructor(options: Pick<OpenOptions, 'stdin' | 'stdout' | 'stderr'>) {
    this.#options = options;
    // A closed window takes the terminal away; what is said then is said to nobody.
    for (const stream of [options.stdout, options.stderr]) stream.on('error', () => {});
  }

  get isPaneOpen(): boolean {
    return this.#isOpen;
  }

  /** Our window was closed: what was a terminal when we began is none any more. */
  get isGone(): boolean {
    const { stdin, stdout, stderr } = this.#options;
    return [stdin, stdout, stderr].some((stream, fd) => stream.isTTY && !isatty(fd));
  }

  /** Says something to the person: now, or when the TUI gives the terminal back. */
  say(text: string): void {
    if (this.#isOpen) this.#lastWords.push(text);
    else this.#options.stderr.write(`${text}\n`);
  }

  /** Runs the harness's own TUI on the thread; the peer ends with it, or goes on headless when it keeps crashing. */
  async attach(thread: HarnessThread, log: Log, end: End): Promise<void> {
    const { stdin, stdout } = this.#options;
    this.#isOpen = true;
    try {
      this.#keeper = await PaneKeeper.open({
        open: () => openPane(thread.pane, { stdin, stdout, log }),
        log,
        onClosed: () => end.because('its pane was closed'),
        onHeadless: (reason) => {
          this.#giveBack();
          thread.paneAttached(false);
          this.say(`The peer goes on without its pane: ${reason}. Ctrl-C closes it.`);
        },
      });
    } catch (error) {
      this.#giveBack();
      throw error;
    }
  }

  /** Ends the TUI, restores the terminal and says what had to wait. */
  async end(): Promise<void> {
    await this.#keeper?.end();
    this.#giveBack();
  }

  #giveBack(): void {
    this.#isOpen = false;
    for (const text of this.#lastWords.splice(0)) this.say(text);
  }
}
