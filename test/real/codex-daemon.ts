import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { controlSocket } from './codex-home.ts';
import { endDaemon, recordedPid } from './daemon-end.ts';
import { tail } from './log-tails.ts';
import { send, untilGone } from './processes.ts';
import { codexBinary } from './programs.ts';
import { type Loose, RawClient } from './raw-client.ts';
import type { World } from './temp.ts';

/**
 * The real daemon of a home that was filled with `packages: true`: for tests of restarts, where a daemon loads its
 * threads again and continues interrupted turns. Everything else is cheaper on a `CodexServer`.
 */
export class CodexDaemon implements AsyncDisposable {
  readonly socketPath: string;
  readonly #world: World;

  /** `graceSeconds` is how long `restart` and `stop` wait for running turns; Codex's own default is 60. */
  static async start(world: World, { graceSeconds = 1 } = {}): Promise<CodexDaemon> {
    const folder = join(world.codexHome, 'app-server-daemon');
    mkdirSync(folder, { recursive: true });
    const settings = {
      remoteControlEnabled: false,
      autoUpdateEnabled: false,
      shutdownGraceSeconds: graceSeconds,
    };
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
    const daemon = new CodexDaemon(world);
    await daemon.command('start');
    return daemon;
  }

  private constructor(world: World) {
    this.#world = world;
    this.socketPath = controlSocket(world);
  }

  /** The pid that Codex recorded, null when that process is gone. */
  get pid(): number | null {
    return recordedPid(this.#world.codexHome, 'daemon.pid');
  }

  /** Runs `codex app-server daemon <word>`; its JSON, whose `status` is `started`, `alreadyRunning`, `stopped`, … */
  async command(word: 'start' | 'restart' | 'stop' | 'version'): Promise<Loose> {
    const { env, home: cwd } = this.#world;
    const { stdout } = await promisify(execFile)(codexBinary(), ['app-server', 'daemon', word], { env, cwd });
    return JSON.parse(stdout);
  }

  /** SIGKILL: nobody restarts it, and the dangling socket stays. */
  async kill(): Promise<void> {
    const { pid } = this;
    if (pid === null) return;
    send(pid, 'SIGKILL');
    await untilGone(pid, 5_000);
  }

  client(name?: string): Promise<RawClient> {
    return RawClient.connect(this.socketPath, name);
  }

  /** For a failing test: the end of what the daemon wrote. */
  evidence(): string {
    return tail(join(this.#world.codexHome, 'app-server-daemon', 'daemon.stderr.log'), 20);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endDaemon(this.#world.codexHome);
  }
}
