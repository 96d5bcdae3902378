import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Arrivals } from './arrivals.ts';

const peerScript = fileURLToPath(new URL('../../bin/peer.js', import.meta.url));

/** The argv of the built `peer`, for a tmux pane. */
export const peerCommand: readonly string[] = [process.execPath, peerScript];

export interface PeerOptions {
  /** The whole environment, a world's as a rule. */
  env: NodeJS.ProcessEnv;
  cwd?: string;
  /** Another build of `peer` than this one's. */
  script?: string;
}

export interface PeerResult {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface PeerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Runs the built `peer` to its end, with `input` on stdin (without one stdin is empty); killed after `timeoutMs`. */
export async function runPeer(
  args: readonly string[],
  options: PeerOptions & { input?: string; timeoutMs?: number },
): Promise<PeerResult> {
  const { env, cwd = env.HOME, input = '', timeoutMs = 30_000 } = options;
  const child = spawn(process.execPath, [peerScript, ...args], {
    env,
    cwd,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  // A command that does not read its input closes the pipe under us.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = new Promise<number | null>((resolve, reject) =>
    child.once('close', resolve).once('error', reject),
  );
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, stdout, stderr };
}

/** Starts a `peer` that stays; resolves when a line on its stdout matches `ready` (any line, unless told). */
export async function startPeer(
  args: readonly string[],
  options: PeerOptions & { ready?: RegExp; timeoutMs?: number },
): Promise<PeerProcess> {
  const peer = new PeerProcess(args, options);
  try {
    await peer.line(options.ready ?? /./, options.timeoutMs);
    return peer;
  } catch (error) {
    await peer[Symbol.asyncDispose]();
    throw error;
  }
}

/** A long-lived `peer` with its output; disposing ends it by pid. */
export class PeerProcess implements AsyncDisposable {
  readonly exited: Promise<PeerEnd>;
  readonly #child: ChildProcess;
  readonly #args: readonly string[];
  readonly #lines = new Arrivals<string>((line) => line);
  #stderr = '';
  #stdout = '';

  constructor(args: readonly string[], { env, cwd = env.HOME, script = peerScript }: PeerOptions) {
    this.#args = args;
    this.#child = spawn(process.execPath, [script, ...args], {
      env,
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.exited = this.#end();
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => this.#take(chunk));
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#stderr += chunk;
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The first line on stdout that matches, past ones included; rejects when the process ends before it. */
  line(match: RegExp, timeoutMs = 20_000): Promise<string> {
    const early = this.exited.then(({ code, signal }) => {
      throw new Error(`peer ended (${code ?? signal}) before it said ${match}:\n${this.evidence()}`);
    });
    return Promise.race([
      this.#lines.wait((line) => match.test(line), `a line like ${match}`, timeoutMs),
      early,
    ]);
  }

  /** Sends the signal and waits for the end, which a healthy peer reaches within `timeoutMs`. */
  async stop(signal: NodeJS.Signals = 'SIGTERM', timeoutMs = 10_000): Promise<PeerEnd> {
    this.#child.kill(signal);
    const end = await Promise.race([this.exited, sleep(timeoutMs, null, { ref: false })]);
    if (!end) throw new Error(`peer did not end within ${timeoutMs} ms after ${signal}:\n${this.evidence()}`);
    return end;
  }

  /** For a failing test: the command and all it printed. */
  evidence(): string {
    return [`peer ${this.#args.join(' ')}`, this.#stdout, this.#stderr].filter(Boolean).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGTERM', 4_000).catch(() => this.stop('SIGKILL'));
  }

  /** Waits for the rest of the output too, but not for a process that was left behind and holds the pipe. */
  async #end(): Promise<PeerEnd> {
    const closed = once(this.#child, 'close');
    const [code, signal] = await once(this.#child, 'exit');
    await Promise.race([closed, sleep(500, null, { ref: false })]);
    return { code, signal };
  }

  #take(chunk: string): void {
    const open = this.#stdout.lastIndexOf('\n') + 1;
    this.#stdout += chunk;
    for (const line of this.#stdout.slice(open).split('\n').slice(0, -1)) this.#lines.add(line);
  }
}
