import { setTimeout as sleep } from 'node:timers/promises';
import type { CodexDaemon } from '../real/codex-daemon.ts';
import type { DaemonProxy } from '../real/daemon-proxy.ts';
import { type PeerProcess, startPeer } from '../real/peer-process.ts';
import { send, untilGone } from '../real/processes.ts';
import { RawClient } from '../real/raw-client.ts';
import type { World } from '../real/temp.ts';
import type { Fault } from './evidence.ts';

/** How long a peer gets to open while everything around it breaks, and how often it is tried. */
const OPEN_MS = 40_000;
const OPENS = 4;
/** Peers start a killed daemon after 3 s, a stopped one after 5 s when a message waits. */
const PEERS_START_MS = 8_000;

export interface Journal {
  readonly faults: Fault[];
  readonly deaths: string[];
}

/** Does one thing after another: a process is killed only when it is there. */
class InTurn {
  #last: Promise<unknown> = Promise.resolve();

  do<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#last.then(task);
    this.#last = done.catch(() => {});
    return done;
  }
}

/** A headless peer that is opened again whenever it was ended. */
export class Wrapper {
  readonly name: string;
  readonly #world: World;
  readonly #journal: Journal;
  readonly #script: string | undefined;
  readonly #turn = new InTurn();
  #process: PeerProcess | null = null;

  constructor(world: World, journal: Journal, name: string, script?: string) {
    this.name = name;
    this.#world = world;
    this.#journal = journal;
    this.#script = script;
  }

  open(): Promise<void> {
    return this.#turn.do(() => this.#open());
  }

  /** Ends it when `moment` has come, and opens it again after `openAfterMs`. */
  end(what: 'SIGKILL' | 'SIGTERM', openAfterMs: number, moment: () => Promise<void>): Promise<void> {
    return this.#turn.do(async () => {
      await moment();
      const process = this.#process;
      if (process === null) return;
      this.#process = null;
      const atMs = Date.now();
      const { code } = await process.stop(what, 20_000);
      if (what === 'SIGTERM' && code !== 0) this.#journal.deaths.push(`${code}: ${process.evidence()}`);
      const goneAtMs = Date.now();
      await sleep(openAfterMs);
      await this.#open();
      const fault = {
        target: 'wrapper',
        name: this.name,
        what,
        atMs,
        goneAtMs,
        backAtMs: Date.now(),
      } as const;
      this.#journal.faults.push(fault);
    });
  }

  async #open(): Promise<void> {
    const { env, work: cwd } = this.#world;
    const script = this.#script === undefined ? {} : { script: this.#script };
    const options = { env, cwd, ready: / is open/, timeoutMs: OPEN_MS, ...script };
    for (let tries = 1; this.#process === null; tries++) {
      try {
        this.#process = await startPeer(['open', this.name, '--headless'], options);
      } catch (error) {
        if (tries === OPENS) throw error;
        await sleep(500);
      }
    }
    this.#watch(this.#world.own(this.#process));
  }

  #watch(process: PeerProcess): void {
    void process.exited.then(({ code, signal }) => {
      if (this.#process !== process) return;
      this.#process = null;
      this.#journal.deaths.push(`${code ?? signal}: ${process.evidence()}`);
      void this.open().catch(() => {});
    });
  }

  /** From now on its end is nobody's fault. */
  letGo(): void {
    this.#process = null;
  }
}

/** The daemon and the proxy in front of it. */
export class Server {
  readonly #daemon: CodexDaemon;
  readonly #proxy: DaemonProxy;
  readonly #journal: Journal;
  readonly #turn = new InTurn();

  constructor(daemon: CodexDaemon, proxy: DaemonProxy, journal: Journal) {
    this.#daemon = daemon;
    this.#proxy = proxy;
    this.#journal = journal;
  }

  end(
    what: 'SIGKILL' | 'SIGTERM' | 'restart',
    startAfterMs: number | null,
    moment: () => Promise<void>,
  ): Promise<void> {
    return this.#turn.do(async () => {
      await moment();
      const atMs = Date.now();
      this.#proxy.stepAside();
      if (what === 'restart') await this.#daemon.command('restart').catch(() => {});
      else await this.#signal(what);
      const goneAtMs = Date.now();
      if (startAfterMs !== null) {
        await sleep(startAfterMs);
        await this.#daemon.command('start').catch(() => {});
      }
      await this.#back();
      this.#proxy.standBetween();
      const fault = { target: 'daemon', name: '', what, atMs, goneAtMs, backAtMs: Date.now() } as const;
      this.#journal.faults.push(fault);
    });
  }

  /** Cuts every connection, or holds back what is said on them. */
  disturb(forMs: number | null): Promise<void> {
    return this.#turn.do(async () => {
      const atMs = Date.now();
      if (forMs === null) this.#proxy.cut();
      else {
        this.#proxy.stall();
        await sleep(forMs);
        this.#proxy.goOn();
      }
      const what = forMs === null ? 'cut' : 'stall';
      this.#journal.faults.push({
        target: 'connection',
        name: '',
        what,
        atMs,
        goneAtMs: Date.now(),
        backAtMs: null,
      });
    });
  }

  async #signal(what: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { pid } = this.#daemon;
    if (pid === null) return;
    send(pid, what);
    if (await untilGone(pid, 5_000)) return;
    send(pid, 'SIGKILL');
    await untilGone(pid, 5_000);
  }

  /** Peers that need the daemon start it; when none does, its owner does. */
  async #back(): Promise<void> {
    if (await this.#answers(PEERS_START_MS)) return;
    await this.#daemon.command('start').catch(() => {});
    if (!(await this.#answers(20_000))) throw new Error('the daemon does not come back');
  }

  async #answers(withinMs: number): Promise<boolean> {
    const end = Date.now() + withinMs;
    while (Date.now() < end) {
      const client = await RawClient.connect(this.#proxy.serverPath).catch(() => null);
      if (client !== null) {
        await client[Symbol.asyncDispose]();
        return true;
      }
      await sleep(50);
    }
    return false;
  }
}
