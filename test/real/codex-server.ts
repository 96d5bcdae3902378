import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CodexHomeOptions, controlSocket, fillCodexHome } from './codex-home.ts';
import { CodexModel } from './codex-model.ts';
import { tail } from './log-tails.ts';
import { codexBinary } from './programs.ts';
import { RawClient } from './raw-client.ts';
import type { World } from './temp.ts';

/** What most tests begin with: the scripted model, a home on it and a private server, all owned by the world. */
export async function openCodex(world: World, options: CodexHomeOptions = {}) {
  const model = world.own(await CodexModel.start());
  await fillCodexHome(world, model, options);
  const server = world.own(await CodexServer.start(world));
  return { model, server };
}

/**
 * A private `codex app-server` on the world's CODEX_HOME, listening where the daemon would. It does all that the
 * daemon does but restart: after `stop` or `kill` threads are not loaded and no turn is recovered. A killed one
 * leaves a dangling socket, on which `peer` starts a daemon: fill the home with `packages: true` then.
 */
export class CodexServer implements AsyncDisposable {
  readonly socketPath: string;
  readonly #world: World;
  readonly #log: string;
  #child: ChildProcess | null = null;

  /** Ready to be called when it resolves; about 0.4 s on two quiet cores. */
  static async start(world: World): Promise<CodexServer> {
    const server = new CodexServer(world);
    await server.start();
    return server;
  }

  private constructor(world: World) {
    this.#world = world;
    this.socketPath = controlSocket(world);
    this.#log = join(world.root, 'codex-server.err');
  }

  /** The server's pid while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    mkdirSync(dirname(this.socketPath), { recursive: true, mode: 0o700 });
    const log = openSync(this.#log, 'a', 0o600);
    const child = spawn(codexBinary(), ['app-server', '--listen', `unix://${this.socketPath}`], {
      cwd: this.#world.home,
      env: this.#world.env,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#child = child;
    await this.#ready(child);
  }

  /** Only sends the signal: a server that gets SIGTERM during a turn takes nothing new and ends after the turn. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** SIGTERM, then waits: with a turn running that takes as long as the turn. */
  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  /** SIGKILL: turns are interrupted, the dangling socket stays. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  client(name?: string): Promise<RawClient> {
    return RawClient.connect(this.socketPath, name);
  }

  /** For a failing test: the end of what the server wrote. */
  evidence(): string {
    return tail(this.#log, 20);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (await Promise.race([this.stop().then(() => true), sleep(300, false)])) return;
    // A second SIGTERM ends a draining server at once.
    if (await Promise.race([this.stop().then(() => true), sleep(1_000, false)])) return;
    await this.kill();
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await exited;
    if (this.#child === child) this.#child = null;
  }

  async #ready(child: ChildProcess): Promise<void> {
    const end = Date.now() + 15_000;
    while (Date.now() < end && child.exitCode === null) {
      const client = await this.client('ready').catch(() => null);
      if (client) return client[Symbol.asyncDispose]();
      await sleep(20);
    }
    await this.kill();
    throw new Error(`codex app-server did not become ready:\n${this.evidence()}`);
  }
}
