import { once } from 'node:events';
import { readlinkSync, renameSync, symlinkSync } from 'node:fs';
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
  readonly #http = createServer();
  readonly #pairs = new Set<readonly [WebSocket, WebSocket]>();
  #isTaking = true;
  /** How many connections peers have made. */
  connections = 0;
  /** Frames of the peers, on their way to the server. */
  onRequest: Pass = (frame) => frame;
  /** Frames of the server, on their way to a peer. */
  onAnswer: Pass = (frame) => frame;

  static async start(world: World): Promise<DaemonProxy> {
    const proxy = new DaemonProxy(controlSocket(world));
    const listening = join(world.runtimeDir, 'proxy.sock');
    proxy.#http.listen(listening);
    await once(proxy.#http, 'listening');
    symlinkSync(listening, `${listening}.link`);
    renameSync(`${listening}.link`, controlSocket(world));
    return world.own(proxy);
  }

  private constructor(control: string) {
    this.serverPath = readlinkSync(control);
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
    peer.on('message', (data) => {
      const text = this.#passed(data, this.onRequest);
      if (text === null) return;
      if (server.readyState === WebSocket.OPEN) server.send(text);
      else early.push(text);
    });
    server.on('open', () => {
      for (const text of early.splice(0)) server.send(text);
    });
    server.on('message', (data) => {
      const text = this.#passed(data, this.onAnswer);
      if (text !== null) peer.send(text);
    });
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#pairs.delete(pair);
        peer.terminate();
        server.terminate();
      });
    }
  }

  #passed(data: unknown, pass: Pass): string | null {
    const frame = pass(JSON.parse(String(data)));
    return frame === null ? null : JSON.stringify(frame);
  }
}
