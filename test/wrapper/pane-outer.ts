import { send, untilGone } from '../real/processes.ts';
import type { World } from '../real/temp.ts';

interface NodePty {
  spawn(file: string, args: string[], options: object): OuterPty;
}

interface OuterPty {
  readonly pid: number;
  onData(listener: (chunk: Buffer) => void): void;
  write(bytes: Buffer): void;
  pause(): void;
  resume(): void;
}

const nodePty = await load();
export const hasNodePty = nodePty !== null;

/** The person's terminal: a pty that keeps every byte it was sent, and can stop reading. */
export class OuterTerminal implements AsyncDisposable {
  readonly #pty: OuterPty;
  readonly #chunks: Buffer[] = [];

  constructor([file, ...args]: [string, ...string[]], world: World) {
    if (nodePty === null) throw new Error('node-pty is not installed');
    this.#pty = nodePty.spawn(file, args, {
      encoding: null,
      cols: 90,
      rows: 30,
      cwd: world.work,
      env: world.env,
    });
    this.#pty.onData((chunk) => this.#chunks.push(chunk));
  }

  get output(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  write(bytes: Buffer): void {
    this.#pty.write(bytes);
  }

  pause(): void {
    this.#pty.pause();
  }

  resume(): void {
    this.#pty.resume();
  }

  signalDriver(signal: NodeJS.Signals): void {
    send(this.#pty.pid, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pty.resume();
    send(this.#pty.pid, 'SIGKILL');
    await untilGone(this.#pty.pid, 2_000);
  }
}

async function load(): Promise<NodePty | null> {
  const name: string = 'node-pty';
  try {
    const module = (await import(name)) as NodePty & { default?: NodePty };
    return module.default ?? module;
  } catch {
    return null;
  }
}
