import { setTimeout as sleep } from 'node:timers/promises';
import { CodexDaemon } from '../real/codex-daemon.ts';
import { fillCodexHome } from '../real/codex-home.ts';
import { CodexModel } from '../real/codex-model.ts';
import { DaemonProxy } from '../real/daemon-proxy.ts';
import { ScriptPeer } from '../real/script-peer.ts';
import type { World } from '../real/temp.ts';
import { type Journal, Server, Wrapper } from './actors.ts';
import type { Evidence, ModelRound, Priority, Sent } from './evidence.ts';
import { answerTo, userTexts } from './model-answers.ts';
import type { Action, Moment } from './schedule.ts';
import { countOpen, readReceived, readStore, readUserItems, untilInGap } from './witness.ts';

const SETTLE_MS = 90_000;
/** A moment that does not come is not waited for any longer. */
const MOMENT_MS = 1_500;
/** How long a sender looks for a peer that is being opened again. */
const LOOK_MS = 8_000;
/** Not a byte was written. */
const NOT_THERE = /ENOENT|ECONNREFUSED|no peer named/;

/** A peer to be opened, of another build when `script` is given. */
export interface Cast {
  readonly name: string;
  readonly script?: string;
}

/** The real Codex with a daemon, its model, peers and senders, and a record of all that happens to them. */
export class Stage {
  readonly #world: World;
  readonly #server: Server;
  readonly #socketPath: string;
  readonly #wrappers: readonly Wrapper[];
  readonly #senders: ScriptPeer[] = [];
  readonly #everySender: ScriptPeer[] = [];
  readonly #gone: string[] = [];
  readonly #journal: Journal;
  readonly #sent: Sent[] = [];
  readonly #requests: ModelRound[];
  readonly #open = new Set<Promise<void>>();
  readonly #failures: unknown[] = [];
  /** How many writes to peers have begun. */
  #begun = 0;

  static async open(world: World, peers: readonly Cast[], senders: number): Promise<Stage> {
    const model = world.own(await CodexModel.start());
    const requests: ModelRound[] = [];
    model.on(/^/, (request) => {
      requests.push({ atMs: Date.now(), userTexts: userTexts(request) });
      return answerTo(request);
    });
    await fillCodexHome(world, model, { packages: true });
    const daemon = world.own(await CodexDaemon.start(world, { graceSeconds: 1 }));
    const proxy = await DaemonProxy.start(world);
    const journal: Journal = { faults: [], deaths: [] };
    const wrappers = peers.map(({ name, script }) => new Wrapper(world, journal, name, script));
    const stage = new Stage(
      world,
      new Server(daemon, proxy, journal),
      proxy.serverPath,
      wrappers,
      journal,
      requests,
    );
    await Promise.all(wrappers.map((wrapper) => wrapper.open()));
    for (let index = 0; index < senders; index++) await stage.#openSender(index);
    return stage;
  }

  private constructor(
    world: World,
    server: Server,
    socketPath: string,
    wrappers: readonly Wrapper[],
    journal: Journal,
    requests: ModelRound[],
  ) {
    this.#world = world;
    this.#server = server;
    this.#socketPath = socketPath;
    this.#wrappers = wrappers;
    this.#journal = journal;
    this.#requests = requests;
  }

  /** Performs a schedule; resolves when its last action has begun. */
  async perform(schedule: readonly Action[]): Promise<void> {
    const startMs = performance.now();
    for (const action of schedule) {
      const waitMs = startMs + action.atMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      this.#begin(this.#act(action));
    }
  }

  /** Waits until everything is back and every message told of; a last message shows what else would come. */
  async settle(withinMs = SETTLE_MS): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
    if (this.#failures.length > 0) throw new AggregateError(this.#failures, 'the run could not go on');
    await this.#untilTold(withinMs);
    const last = await this.#openSender(this.#senders.length);
    await Promise.all(
      this.#wrappers.map(({ name }, at) => this.#send(last, name, 'next', `mk-0000-${9000 + at}`)),
    );
    await this.#untilTold(withinMs);
    await sleep(300);
  }

  async evidence(seed: number): Promise<Evidence> {
    for (const wrapper of this.#wrappers) wrapper.letGo();
    const store = readStore(this.#world);
    const threads = new Set(store.messages.map(({ thread_id }) => thread_id));
    return {
      seed,
      sent: this.#sent,
      ...this.#journal,
      store,
      userItems: await readUserItems(this.#socketPath, threads),
      requests: this.#requests,
      received: readReceived(this.#everySender),
      gone: this.#gone,
    };
  }

  async #untilTold(withinMs: number): Promise<void> {
    const end = Date.now() + withinMs;
    while (countOpen(this.#world) > 0 && Date.now() < end) await sleep(100);
  }

  #begin(action: Promise<void>): void {
    const done = action
      .catch((error: unknown) => {
        this.#failures.push(error);
      })
      .finally(() => this.#open.delete(done));
    this.#open.add(done);
  }

  #act(action: Action): Promise<void> {
    switch (action.type) {
      case 'send':
        return this.#send(
          this.#senders[action.sender]!,
          this.#wrappers[action.peer]!.name,
          action.priority,
          action.marker,
        );
      case 'wrapper':
        return this.#wrappers[action.peer]!.end(action.what, action.openAfterMs, () =>
          this.#next(action.moment, this.#wrappers[action.peer]!.name),
        );
      case 'daemon':
        return this.#server.end(action.what, action.startAfterMs, () => this.#next(action.moment, null));
      case 'sender':
        return this.#replace(action.sender);
      case 'cut':
        return this.#server.disturb(null);
      case 'stall':
        return this.#server.disturb(action.forMs);
    }
  }

  /** Resolves at the next such moment of a peer, null of any, or when it is late. */
  async #next(moment: Moment, peer: string | null): Promise<void> {
    if (moment === 'any') return;
    if (moment !== 'message' && moment !== 'model') return untilInGap(this.#world, moment, peer, MOMENT_MS);
    const count = () => (moment === 'message' ? this.#begun : this.#requests.length);
    const before = count();
    const end = Date.now() + MOMENT_MS;
    while (count() === before && Date.now() < end) await sleep(1);
  }

  async #send(sender: ScriptPeer, peer: string, priority: Priority, marker: string): Promise<void> {
    const msgId = crypto.randomUUID();
    const startedAtMs = Date.now();
    const text = `Please look at ${marker}, and say so.`;
    const write = () =>
      sender.send({ to: peer, text, priority, msgId }).then(
        (result) => result.error,
        (failure: Error) => failure.message,
      );
    this.#begun += 1;
    let error = await write();
    while (error !== null && NOT_THERE.test(error) && Date.now() - startedAtMs < LOOK_MS) {
      await sleep(100);
      this.#begun += 1;
      error = await write();
    }
    const sent = { marker, msgId, sender: sender.name, peer, priority, startedAtMs, endedAtMs: Date.now() };
    this.#sent.push({ ...sent, isWritten: error === null, error });
  }

  async #replace(index: number): Promise<void> {
    const sender = this.#senders[index]!;
    if (this.#gone.includes(sender.name)) return;
    const atMs = Date.now();
    this.#gone.push(sender.name);
    await sender.kill();
    const goneAtMs = Date.now();
    await this.#openSender(index);
    const { name } = sender;
    const fault = { target: 'sender', name, what: 'SIGKILL', atMs, goneAtMs, backAtMs: Date.now() } as const;
    this.#journal.faults.push(fault);
  }

  async #openSender(index: number): Promise<ScriptPeer> {
    const name = `sender ${index + 1}.${this.#everySender.length + 1}`;
    const sender = this.#world.own(await ScriptPeer.spawn({ env: this.#world.env, name }));
    this.#senders[index] = sender;
    this.#everySender.push(sender);
    return sender;
  }
}
