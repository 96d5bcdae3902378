import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Arrivals } from './arrivals.ts';
import { claudeEnv, seedClaudeHome } from './claude-home.ts';
import { type PublishedRow, rowsOf, waitForRow } from './claude-row.ts';
import { claudeBinary } from './programs.ts';
import type { Owned } from './temp.ts';

export interface ClaudeOptions {
  /** Environment shared with the product under test: `HOME`, `CLAUDE_CONFIG_DIR`, `XDG_RUNTIME_DIR`. */
  readonly env: NodeJS.ProcessEnv;
  /** `url` of the scripted model. */
  readonly modelUrl: string;
  readonly name: string;
  /** Default: `env.HOME`. */
  readonly cwd?: string;
  /** `bypassPermissions` is refused to root, unless `IS_SANDBOX=1` is in `extraEnv`. */
  readonly permissionMode?: 'manual' | 'acceptEdits' | 'bypassPermissions';
  readonly args?: readonly string[];
  readonly extraEnv?: NodeJS.ProcessEnv;
  /** Numeric ids to run as; the folders must be theirs. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

/** A line of the session's stdout, e.g. `{"type":"result","subtype":"success","result":"…"}` at a turn's end. */
export interface StreamEvent {
  readonly type: string;
  readonly subtype?: string;
  readonly result?: string;
  readonly is_error?: boolean;
  readonly [field: string]: unknown;
}

/** The arguments every real session is started with. */
export function claudeArgs(options: Pick<ClaudeOptions, 'name' | 'permissionMode' | 'args'>): string[] {
  return [
    '--name',
    options.name,
    '--permission-mode',
    options.permissionMode ?? 'manual',
    ...(options.args ?? []),
  ];
}

/**
 * A real Claude Code session driven over stdin (`stream-json`): a full peer with row, key and socket, woken by
 * messages and notices, ready in about a second. Start several one after another: at once they take far longer.
 */
export class ClaudeSession implements Owned {
  readonly name: string;
  readonly pid: number;
  readonly socketPath: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #output: Output;
  #resultsTaken = 0;

  private constructor(
    options: ClaudeOptions,
    child: ChildProcessWithoutNullStreams,
    output: Output,
    row: PublishedRow,
  ) {
    this.name = options.name;
    this.pid = row.pid;
    this.socketPath = row.messagingSocketPath ?? '';
    this.#env = options.env;
    this.#child = child;
    this.#output = output;
  }

  /** Resolves when row and socket are there; rejects with what the program printed when it ends before that. */
  static async start(options: ClaudeOptions): Promise<ClaudeSession> {
    const cwd = options.cwd ?? options.env.HOME ?? '';
    await seedClaudeHome(options.env, [cwd]);
    const streamArgs = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
    const child = spawn(claudeBinary(), [...streamArgs, ...claudeArgs(options)], {
      cwd,
      env: { ...claudeEnv(options.env, options.modelUrl), ...options.extraEnv },
      ...options.user,
    });
    const output = new Output(child);
    const failed = Promise.race([once(child, 'exit'), once(child, 'error')]).then(([cause]) => {
      throw new Error(`Claude Code ended before it was a peer (${cause}): ${output.tail()}`);
    });
    const ready = waitForRow(
      options.env,
      (row) => row.pid === child.pid,
      30_000,
      () => `no row: ${output.tail()}`,
    );
    try {
      return new ClaudeSession(options, child, output, await Promise.race([ready, failed]));
    } catch (error) {
      child.kill('SIGKILL');
      ready.catch(() => {});
      throw error;
    } finally {
      failed.catch(() => {});
    }
  }

  /** The row as it is now; undefined once the session ended. */
  get row(): PublishedRow | undefined {
    return rowsOf(this.#env).find((row) => row.pid === this.pid);
  }

  /** Its value in the model's requests. `/clear` changes it. */
  get sessionId(): string {
    return this.row?.sessionId ?? '';
  }

  get events(): readonly StreamEvent[] {
    return this.#output.events.all;
  }

  /** Sends what a person would type; directives in it script the model. */
  say(text: string): void {
    const message = { role: 'user', content: [{ type: 'text', text }] };
    this.#child.stdin.write(`${JSON.stringify({ type: 'user', message })}\n`);
  }

  /** The `result` of the next turn that was not asked for yet: turns that peers and notices began included. */
  async nextResult(timeoutMs = 15_000): Promise<StreamEvent> {
    const result = await this.waitForEvent((event) => event.type === 'result', timeoutMs, this.#resultsTaken);
    this.#resultsTaken = this.events.indexOf(result) + 1;
    return result;
  }

  /** The first event, past or coming, that matches; those before `events[from]` are passed over. */
  waitForEvent(matches: (event: StreamEvent) => boolean, timeoutMs = 15_000, from = 0): Promise<StreamEvent> {
    return this.#output.events.wait(matches, `the event of ${this.name}`, timeoutMs, from);
  }

  /** Ends the session as its stdin ends (0.1–0.5 s), by SIGTERM after 3 s, by SIGKILL after 2 more. */
  async close(): Promise<void> {
    if (hasEnded(this.#child)) return;
    const ended = once(this.#child, 'exit');
    this.#child.stdin.end();
    for (const [signal, afterMs] of [
      ['SIGTERM', 3_000],
      ['SIGKILL', 2_000],
    ] as const) {
      await Promise.race([ended, sleep(afterMs, undefined, { ref: false })]);
      if (hasEnded(this.#child)) return;
      this.#child.kill(signal);
    }
    await ended;
  }

  /** Ends the process without a word: row, key and socket stay. */
  async kill(): Promise<void> {
    if (hasEnded(this.#child)) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  /** What it printed last, for a failing test. */
  evidence(): string {
    return `${this.name} (pid ${this.pid})\n${this.#output.tail()}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Everything the program printed: stdout as events, stderr and foreign lines as text. */
class Output {
  readonly events = new Arrivals<StreamEvent>((event) => JSON.stringify(event).slice(0, 500));
  #text = '';

  constructor(child: ChildProcessWithoutNullStreams) {
    createInterface({ input: child.stdout }).on('line', (line) => this.#onLine(line));
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#keep(text));
    child.stdin.on('error', () => {});
  }

  tail(): string {
    const newest = this.events.all.slice(-3).map((event) => JSON.stringify(event).slice(0, 500));
    return [this.#text.slice(-2_000), ...newest].join('\n');
  }

  #onLine(line: string): void {
    if (line.startsWith('{')) this.events.add(JSON.parse(line) as StreamEvent);
    else this.#keep(`${line}\n`);
  }

  #keep(text: string): void {
    this.#text = (this.#text + text).slice(-20_000);
  }
}

function hasEnded(child: ChildProcessWithoutNullStreams): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
