import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPeerCredentials } from '../../src/os/peer-credentials.ts';
import { processStart } from '../../src/os/proc.ts';
import { memoryRecord } from '../../src/store/memory.ts';
import type { MessageRecord } from '../../src/store/record.ts';
import { Peer } from '../../src/wrapper/peer.ts';
import { FakeThread, type Script } from '../fake-harness.ts';
import { type End, TOKEN, writeAll } from '../frames/sockets.ts';

export interface Logged {
  readonly event: string;
  readonly [field: string]: unknown;
}

/** A frame that came to a {@link Sender}; every field is the sender's claim. */
export interface Came {
  readonly type?: string;
  readonly action?: string;
  readonly msg_id?: string;
  readonly orig_msg_id?: string;
  readonly state?: string;
  readonly message?: { readonly content: string };
  readonly peerwire?: { readonly kind?: string; readonly in_reply_to?: string; readonly outcome?: string };
}

/** Called before the connection that brought the frame is ended. */
export type OnFrame = (frame: Came, sender: Sender) => unknown;

interface ServedOptions {
  readonly script?: Script;
  readonly isLogKept?: boolean;
  readonly record?: MessageRecord;
}

/** A peer on a fake thread, everything but the harness real, in this process and a folder of its own. */
export class ServedPeer implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'peer-served-'));
  readonly sessionsDir = join(this.folder, 'sessions');
  readonly socketPath = join(this.folder, '1.sock');
  readonly thread: FakeThread;
  readonly peer: Peer;
  readonly logged: Logged[] = [];
  readonly held: string[] = [];
  readonly #senders: Sender[] = [];

  private constructor({ script, isLogKept = true, record = memoryRecord() }: ServedOptions) {
    loadPeerCredentials();
    mkdirSync(this.sessionsDir, { mode: 0o700 });
    this.thread = new FakeThread(script);
    const write = (event: string, fields: object = {}) => {
      if (isLogKept) this.logged.push({ ...fields, event });
    };
    this.peer = new Peer({
      name: 'Sol',
      thread: this.thread,
      socketPath: this.socketPath,
      token: TOKEN,
      sessionsDir: this.sessionsDir,
      textsDir: join(this.folder, 'texts'),
      record,
      claims: [],
      onRecordLost: (error) => {
        throw error;
      },
      log: { write, hide: () => {}, close: async () => {} },
      isPaneOpen: () => false,
      onGone: () => {},
      onHeld: (receiver) => this.held.push(receiver),
    });
  }

  static async open(options: ServedOptions = {}) {
    const served = new ServedPeer(options);
    await served.peer.serve();
    served.thread.connect();
    return served;
  }

  /** Listens beside the peer; the newest one is named by the row of this process. */
  async sender(name: string, onFrame: OnFrame = () => {}): Promise<Sender> {
    const path = join(this.folder, `${this.#senders.length + 2}.sock`);
    const sender = new Sender(this, path, onFrame);
    this.#senders.push(sender);
    await sender.listening;
    const { pid } = process;
    const row = {
      pid,
      procStart: processStart(pid),
      name,
      sessionId: randomUUID(),
      messagingSocketPath: path,
    };
    writeFileSync(join(this.sessionsDir, `${pid}.json`), JSON.stringify(row));
    return sender;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.peer.settle();
    await this.peer.close();
    for (const sender of this.#senders) await sender.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Somebody in this process who writes to a {@link ServedPeer} and keeps what comes back. */
export class Sender {
  readonly came: Came[] = [];
  readonly address: string;
  readonly listening: Promise<unknown>;
  readonly #served: ServedPeer;
  readonly #server: Server;

  constructor(served: ServedPeer, path: string, onFrame: OnFrame) {
    this.#served = served;
    this.address = `uds:${path}`;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      let text = '';
      socket.on('error', () => {});
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      socket.on('end', async () => {
        for (const line of text.split('\n').filter(Boolean))
          await this.#take(JSON.parse(line) as Came, onFrame);
        socket.end();
      });
    });
    this.listening = new Promise((resolve) => this.#server.listen(path, () => resolve(null)));
  }

  /** Writes frames on one connection after the auth line; resolves when the peer has ended it. */
  write(...frames: readonly object[]): Promise<End> {
    const lines = [{ type: 'auth', token: TOKEN }, ...frames].map((frame) => `${JSON.stringify(frame)}\n`);
    return writeAll(this.#served.socketPath, lines.join(''));
  }

  /** Sends a message; its id, and how the connection ended. */
  async send(content: string): Promise<End & { readonly msgId: string }> {
    const frame = this.message(content);
    return { msgId: frame.msg_id, ...(await this.write(frame)) };
  }

  message(content: string) {
    const msg_id = randomUUID();
    return { msgV: 1, msg_id, type: 'user', message: { role: 'user', content }, from: this.address };
  }

  /** A `notify_when_idle` of this sender. */
  subscription() {
    const msg_id = randomUUID();
    return { type: 'control', action: 'notify_when_idle', msgV: 1, msg_id, from: this.address };
  }

  /** What became of a message that came, as this receiver says. */
  receipt(about: Came, status: string, fields: object = {}): Promise<End> {
    const orig_msg_id = about.msg_id;
    return this.write({ type: 'control', action: 'peer_message_status', status, orig_msg_id, ...fields });
  }

  /** Answers and notes to a message. */
  repliesTo(msgId: string): Came[] {
    return this.came.filter(({ peerwire }) => peerwire?.in_reply_to === msgId);
  }

  notices(msgId: string): Came[] {
    return this.came.filter((frame) => frame.action === 'peer_idle_notice' && frame.orig_msg_id === msgId);
  }

  close(): Promise<unknown> {
    return new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(frame: Came, onFrame: OnFrame): Promise<void> {
    if (frame.type === 'auth') return;
    this.came.push(frame);
    await onFrame(frame, this);
  }
}
