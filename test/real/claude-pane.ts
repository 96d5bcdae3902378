import { type ClaudeOptions, claudeArgs, claudeEnv, seedClaudeHome } from './claude-home.ts';
import { type PublishedRow, rowsOf, waitForRow } from './claude-row.ts';
import { poll } from './poll.ts';
import { claudeBinary } from './programs.ts';
import type { Owned } from './temp.ts';

/** A terminal in which the session runs, as `Pane` of tmux.ts is one. */
export interface PaneDriver {
  type(text: string): Promise<void>;
  keys(...names: string[]): Promise<void>;
  capture(): Promise<string>;
}

/** What a pane must be opened with so that the session starts in it without any first-run screen. */
export interface PaneCommand {
  readonly command: readonly string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

/** A real Claude Code session on a screen, for tests whose subject is the screen; ready in about 1.5 s. */
export class ClaudePane implements Owned {
  readonly name: string;
  readonly pid: number;
  readonly #env: NodeJS.ProcessEnv;
  readonly #pane: PaneDriver;

  private constructor({ name, env }: ClaudeOptions, pane: PaneDriver, row: PublishedRow) {
    this.name = name;
    this.pid = row.pid;
    this.#env = env;
    this.#pane = pane;
  }

  /** Starts it in the pane that `open` opens; resolves when row and socket are there. */
  static async start(
    options: ClaudeOptions,
    open: (command: PaneCommand) => Promise<PaneDriver>,
  ): Promise<ClaudePane> {
    const { env, cwd = env.HOME ?? '' } = options;
    await seedClaudeHome(env, [cwd]);
    const pane = await open({
      command: [claudeBinary(), ...claudeArgs(options)],
      env: Object.fromEntries(Object.entries(claudeEnv(options)).map(([name, value]) => [name, value ?? ''])),
      cwd,
    });
    let screen = '';
    const isNamed = (row: PublishedRow) => row.entrypoint === 'cli' && hasName(row, options.name);
    const watch = setInterval(async () => {
      screen = await pane.capture().catch(() => screen);
    }, 500);
    try {
      return new ClaudePane(options, pane, await waitForRow(env, isNamed, 30_000, () => screen));
    } finally {
      clearInterval(watch);
    }
  }

  /** The row as it is now; undefined once the session ended. */
  get row(): PublishedRow | undefined {
    return rowsOf(this.#env).find((row) => row.pid === this.pid);
  }

  /** Types a line and sends it once the screen shows its end: an Enter right behind text is a pasted line end. */
  async say(text: string): Promise<void> {
    await this.#pane.type(text);
    await this.waitForScreen(text.slice(-20));
    await this.#pane.keys('Enter');
  }

  screen(): Promise<string> {
    return this.#pane.capture();
  }

  /** Resolves to the first screen that holds `part`, line ends and margins not counted. */
  async waitForScreen(part: string, timeoutMs = 10_000): Promise<string> {
    const end = Date.now() + timeoutMs;
    for (;;) {
      const screen = await this.#pane.capture();
      if (unwrapped(screen).includes(unwrapped(part))) return screen;
      if (Date.now() > end) throw new Error(`the screen of ${this.name} never showed ${part}:\n${screen}`);
    }
  }

  /** Ends the session by SIGTERM: row, key and socket are gone afterwards. */
  async close(): Promise<void> {
    if (!this.row) return;
    process.kill(this.pid, 'SIGTERM');
    await poll(() => this.row === undefined, 5_000, `${this.name} did not end`);
  }

  evidence(): Promise<string> {
    return this.screen();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** A session in a terminal that finds its name taken adds two words to it (2.1.332). */
function hasName(row: PublishedRow, name: string): boolean {
  return row.name === name || (row.nameSource === 'collision' && row.name?.startsWith(`${name}-`) === true);
}

/** Claude Code breaks lines by itself and draws frames, so blanks and frames say nothing. */
function unwrapped(text: string): string {
  return text.replace(/[\s│┃|]+/g, '');
}
