import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Arrivals } from './arrivals.ts';

/**
 * A line of a stream-json session's stdout. The ones tests look at (2.1.332):
 * `result` ends a turn; one that a peer's message began has `origin {kind: 'peer', name, verifiedPeerPid, …}`.
 * `system/peer_message_hold` tells a held message: `state` held, released or dropped, `hold_id`, `from_name`.
 */
export interface StreamEvent {
  readonly type: string;
  readonly subtype?: string;
  /** Of a `result`: the final text, or `API Error: …` with `is_error`. */
  readonly result?: string;
  readonly is_error?: boolean;
  readonly message?: { readonly content?: unknown };
  readonly response?: { readonly request_id?: string; readonly response?: unknown; readonly error?: string };
  readonly [field: string]: unknown;
}

/** Everything a session printed: stdout as events, stderr and foreign lines as text. */
export class ClaudeOutput {
  readonly events = new Arrivals<StreamEvent>(oneLine);
  #text = '';

  constructor(child: ChildProcessWithoutNullStreams) {
    createInterface({ input: child.stdout }).on('line', (line) => this.#onLine(line));
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.#keep(text));
  }

  /** For a failing test. */
  describe(): string {
    return `${this.events.describe()}\n${this.#text}`.trimEnd();
  }

  #onLine(line: string): void {
    if (line.startsWith('{')) this.events.add(JSON.parse(line) as StreamEvent);
    else this.#keep(`${line}\n`);
  }

  #keep(text: string): void {
    this.#text = (this.#text + text).slice(-10_000);
  }
}

function oneLine(event: StreamEvent): string {
  const name = [event.type, event.subtype].filter(Boolean).join('/');
  if (name === 'system/init') return name;
  return `${name} ${(event.result ?? JSON.stringify(event.message?.content ?? event)).slice(0, 300)}`;
}
