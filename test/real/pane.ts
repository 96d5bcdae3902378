import { setTimeout as sleep } from 'node:timers/promises';
import type { Tmux } from './tmux.ts';

/** One pane of a private tmux server. */
export class Pane {
  readonly id: string;
  readonly #tmux: Tmux;

  constructor(tmux: Tmux, id: string) {
    this.#tmux = tmux;
    this.id = id;
  }

  /** Types text as it is, without Enter. */
  async type(text: string): Promise<void> {
    await this.#tmux.run('send-keys', '-t', this.id, '-l', '--', literal(text));
  }

  /** Presses keys by tmux's names: `Enter`, `Escape`, `C-c`, `Tab`, … */
  async keys(...names: string[]): Promise<void> {
    await this.#tmux.run('send-keys', '-t', this.id, '--', ...names);
  }

  /** Types a line and presses Enter after a pause: an Enter right behind text is a pasted line end to both TUIs. */
  async enter(line: string, pauseMs = 400): Promise<void> {
    await this.type(line);
    await sleep(pauseMs);
    await this.keys('Enter');
  }

  /** The screen as text, with `history` what has scrolled off it too. */
  capture({ history = false } = {}): Promise<string> {
    return this.#tmux.run('capture-pane', '-p', '-t', this.id, ...(history ? ['-S', '-'] : []));
  }

  /** Resolves to the first screen that matches; rejects with the last one seen. */
  async waitFor(wanted: RegExp, timeoutMs = 15_000): Promise<string> {
    return this.#until(
      async () => {
        const screen = await this.capture();
        return { done: wanted.test(screen), value: screen };
      },
      `the pane never showed ${wanted}`,
      timeoutMs,
    );
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.#tmux.run('resize-window', '-t', this.id, '-x', String(cols), '-y', String(rows));
  }

  /** A tmux format of this pane, e.g. `#{pane_current_command}`. */
  format(format: string): Promise<string> {
    return this.#tmux.run('display-message', '-p', '-t', this.id, format);
  }

  /** Pid of the pane's command (its shell when it has none). */
  async pid(): Promise<number> {
    return Number(await this.format('#{pane_pid}'));
  }

  /** Resolves to the exit status of a command whose pane remains; null when a signal ended it. */
  async exitStatus(timeoutMs = 15_000): Promise<number | null> {
    const ended = await this.#until(
      async () => {
        const value = await this.format('#{pane_dead}:#{pane_dead_status}:#{pane_dead_signal}');
        // tmux 3.3a can miss that a command has ended and leave it a zombie until some other child of its ends.
        if (value === '1::') await this.#tmux.run('run-shell', 'true');
        return { done: /^1:(\d+:|:\d+)/.test(value), value };
      },
      'the command in the pane did not end',
      timeoutMs,
    );
    const status = ended.split(':')[1];
    return status ? Number(status) : null;
  }

  /** Kills the window, as closing it by hand does: SIGHUP to what runs there. */
  async killWindow(): Promise<void> {
    await this.#tmux.run('kill-window', '-t', this.id);
  }

  async #until(
    look: () => Promise<{ done: boolean; value: string }>,
    complaint: string,
    timeoutMs: number,
  ): Promise<string> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      const { done, value } = await look();
      if (done) return value;
      if (Date.now() > end)
        throw new Error(`${complaint} within ${timeoutMs} ms; last screen:\n${await this.capture()}`);
      await sleep(50);
    }
  }
}

/** tmux takes an argument that ends in `;` for the end of its command. */
export function literal(argument: string): string {
  return argument.replace(/;$/, '\\;');
}
