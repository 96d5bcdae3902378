import { once } from 'node:events';
import { readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { WebSocket, WebSocketServer } from 'ws';
import { controlSocket } from './codex-home.ts';
import type { Frame } from './raw-client.ts';
import type { World } from './temp.ts';

/** What becomes of a frame: it goes on as returned; null: it is swallowed. */
type Pass = (frame: Frame) => Frame | null;

/**
 * Stands between peers and their server: takes the place of the control socket, and passes every frame on, unless
 * a test cuts the connections or changes what is said. The server itself stays reachable at `serverPath`.
 */
export class DaemonProxy implements AsyncDisposable {
  readonly serverPath: string;
  readonly #control: string;
  readonly #listening: string;
  readonly #http = createServer();
  readonly #pairs = new Set<readonly [WebSocket, WebSocket]>();
  #isTaking = true;
  #stalled: (() => void)[] | null = null;
  /** How many connections peers have made. */
  connections = 0;
  /** Frames of the peers, on their way to the server. */
  onRequest: Pass = (frame) => frame;
  /** Frames of the server, on their way to a peer. */
  onAnswer: Pass = (frame) => frame;

  static async start(world: World): Promise<DaemonProxy> {
    const listening = join(world.runtimeDir, 'proxy.sock');
    const proxy = new DaemonProxy(controlSocket(world), listening);
    proxy.#http.listen(listening);
    await once(proxy.#http, 'listening');
    proxy.standBetween();
    return world.own(proxy);
  }

  private constructor(control: string, listening: string) {
    this.serverPath = readlinkSync(control);
    this.#control = control;
    this.#listening = listening;
    const sockets = new WebSocketServer({ server: this.#http, perMessageDeflate: false });
    sockets.on('connection', (peer) => this.#connect(peer));
  }

  /** Drops every connection at once, without a closing handshake. */
  cut(): void {
    for (const [peer, server] of this.#pairs) {
      peer.terminate();
      server.terminate();
    }
  }

  /** Takes the control socket's place, again when a new daemon has put its own link there. */
  standBetween(): void {
    this.#link(this.#listening);
  }

  /** Lets new connections go straight to the server: a daemon that ends or starts must find its own link. */
  stepAside(): void {
    this.#link(this.serverPath);
  }

  /** Passes nothing on either way until `goOn`, and then everything in order. */
  stall(): void {
    this.#stalled ??= [];
  }

  goOn(): void {
    const waiting = this.#stalled ?? [];
    this.#stalled = null;
    for (const pass of waiting) pass();
  }

  /** Drops them and every new one, until `takeAgain`. */
  cutOff(): void {
    this.#isTaking = false;
    this.cut();
  }

  takeAgain(): void {
    this.#isTaking = true;
  }

  /** Takes connections and changes nothing, as at the beginning. */
  passAll(): void {
    this.takeAgain();
    this.goOn();
    this.onRequest = (frame) => frame;
    this.onAnswer = (frame) => frame;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cutOff();
    this.#http.closeAllConnections();
    this.#http.close();
  }

  #connect(peer: WebSocket): void {
    if (!this.#isTaking) return peer.terminate();
    this.connections += 1;
    const server = new WebSocket(`ws+unix://${this.serverPath}:/`, { perMessageDeflate: false });
    const pair = [peer, server] as const;
    const early: string[] = [];
    this.#pairs.add(pair);
    const toServer = (data: unknown) => {
      const text = this.#passed(data, this.onRequest);
      if (text === null) return;
      if (server.readyState === WebSocket.CONNECTING) early.push(text);
      else server.send(text, () => {});
    };
    const toPeer = (data: unknown) => {
      const text = this.#passed(data, this.onAnswer);
      if (text !== null) peer.send(text, () => {});
    };
    peer.on('message', (data) => this.#inOrder(() => toServer(data)));
    server.on('open', () => {
      for (const text of early.splice(0)) server.send(text);
    });
    server.on('message', (data) => this.#inOrder(() => toPeer(data)));
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#pairs.delete(pair);
        peer.terminate();
        server.terminate();
      });
    }
  }

  #inOrder(pass: () => void): void {
    if (this.#stalled === null) pass();
    else this.#stalled.push(pass);
  }

  #link(target: string): void {
    const link = `${this.#listening}.link`;
    rmSync(link, { force: true });
    symlinkSync(target, link);
    renameSync(link, this.#control);
  }

  #passed(data: unknown, pass: Pass): string | null {
    const frame = pass(JSON.parse(String(data)));
    return frame === null ? null : JSON.stringify(frame);
  }
}
