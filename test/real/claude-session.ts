import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClaudeOptions, claudeArgs, claudeEnv, seedClaudeHome } from './claude-home.ts';
import { ClaudeOutput, type StreamEvent } from './claude-output.ts';
import { type PublishedRow, rowsOf, waitForRow } from './claude-row.ts';
import { claudeBinary } from './programs.ts';
import type { Owned } from './temp.ts';

const STREAM_JSON = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];

/**
 * A real Claude Code session driven over stdin (`stream-json`): a full peer with row, key and socket, woken by
 * messages and notices, ready in 0.3 to 1.5 s. Start several one after another: at once they take far longer.
 */
export class ClaudeSession implements Owned {
  readonly name: string;
  readonly pid: number;
  readonly socketPath: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #output: ClaudeOutput;
  #resultsTaken = 0;

  private constructor(
    { name, env }: ClaudeOptions,
    row: PublishedRow,
    child: ChildProcessWithoutNullStreams,
    output: ClaudeOutput,
  ) {
    this.name = name;
    this.pid = row.pid;
    this.socketPath = row.messagingSocketPath ?? '';
    this.#env = env;
    this.#child = child;
    this.#output = output;
  }

  /** Resolves when row and socket are there; rejects with what the program printed when it ends before that. */
  static async start(options: ClaudeOptions): Promise<ClaudeSession> {
    const { env, cwd = env.HOME ?? '', user } = options;
    await seedClaudeHome(env, [cwd]);
    const args = [...STREAM_JSON, ...claudeArgs(options)];
    const child = spawn(claudeBinary(), args, { cwd, env: claudeEnv(options), ...user });
    child.stdin.on('error', () => {});
    const output = new ClaudeOutput(child);
    const isTheirs = (row: PublishedRow) => {
      if (hasEnded(child)) throw new Error(`Claude Code ended before it was a peer:\n${output.describe()}`);
      return row.pid === child.pid;
    };
    try {
      const row = await waitForRow(env, isTheirs, 30_000, () => output.describe());
      return new ClaudeSession(options, row, child, output);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
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
    this.#write({ type: 'user', message: { role: 'user', content: [{ type: 'text', text }] } });
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

  /** The hold id of the message from `peer` that this session holds for its person's approval. */
  async waitForHeld(peer: string, from = 0): Promise<string> {
    const isHeld = ({ subtype, state, from_name }: StreamEvent) =>
      subtype === 'peer_message_hold' && state === 'held' && from_name === peer;
    return String((await this.waitForEvent(isHeld, 15_000, from)).hold_id);
  }

  /** Decides a held message as the person would; its sender gets the receipt `delivered` or `denied`. */
  async decideHeld(holdId: string, decision: 'deliver' | 'drop'): Promise<void> {
    await this.control({ subtype: 'decide_held_peer_message', hold_id: holdId, decision });
  }

  /** Breaks the running turn off, as Esc does. */
  async interrupt(): Promise<void> {
    await this.control({ subtype: 'interrupt' });
  }

  /** Asks the session itself, not its model; rejects when it answers an error. */
  async control(request: { subtype: string; [field: string]: unknown }): Promise<unknown> {
    const id = randomUUID();
    this.#write({ type: 'control_request', request_id: id, request });
    const isAnswer = (event: StreamEvent) => event.response?.request_id === id;
    const { response } = await this.waitForEvent(isAnswer, 10_000, this.events.length);
    if (response?.error) throw new Error(`${request.subtype}: ${response.error}`);
    return response?.response;
  }

  /** Ends the session as its stdin ends (0.1–0.5 s), by SIGTERM after 3 s, by SIGKILL after 2 more. */
  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#endsWithin(3_000);
    this.#child.kill('SIGTERM');
    await this.#endsWithin(2_000);
    await this.kill();
  }

  /** Ends the process without a word: row, key and socket stay. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#endsWithin(10_000);
  }

  /** What it printed, for a failing test. */
  evidence(): string {
    return `${this.name} (pid ${this.pid})\n${this.#output.describe()}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #write(line: object): void {
    this.#child.stdin.write(`${JSON.stringify(line)}\n`);
  }

  async #endsWithin(timeoutMs: number): Promise<void> {
    if (hasEnded(this.#child)) return;
    await Promise.race([once(this.#child, 'exit'), sleep(timeoutMs, undefined, { ref: false })]);
  }
}

function hasEnded(child: ChildProcessWithoutNullStreams): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
