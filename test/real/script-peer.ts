import { Arrivals } from './arrivals.ts';
import { type Link, linkChild, linkHere } from './script-peer-link.ts';
import type * as T from './script-peer-types.ts';
import type { Owned } from './temp.ts';

export type * from './script-peer-types.ts';

/**
 * A scripted native peer: publishes row, key and socket as Claude Code does, sends what it is told to, records
 * every byte and frame it gets, answers nothing by itself. Ready in about 0.1 s. To stop it for a while, send
 * SIGSTOP to its `pid`.
 */
export class ScriptPeer implements Owned {
  readonly name: string;
  readonly pid: number;
  readonly socketPath: string;
  readonly sessionId: string;
  /** In its key file: what a sender authenticates with. */
  readonly token: string;
  readonly #link: Link;
  readonly #record: SocketRecord;

  private constructor(name: string, identity: T.PeerIdentity, link: Link, record: SocketRecord) {
    this.name = name;
    this.pid = identity.pid;
    this.socketPath = identity.socketPath;
    this.sessionId = identity.sessionId;
    this.token = identity.token;
    this.#link = link;
    this.#record = record;
  }

  /** A peer in a process of its own, as every real one is: any number of them. */
  static async spawn({ env, ...options }: T.PeerOptions & { env: NodeJS.ProcessEnv }): Promise<ScriptPeer> {
    const record = new SocketRecord();
    const link = linkChild(env, options, (event) => record.add(event));
    try {
      return new ScriptPeer(options.name, await link.call('publish', {}), link, record);
    } catch (error) {
      await link.kill();
      throw error;
    }
  }

  /** A peer in the test's own process: at most one, its socket is named after this process. */
  static async here({ env, ...options }: T.PeerOptions & { env: NodeJS.ProcessEnv }): Promise<ScriptPeer> {
    const record = new SocketRecord();
    const link = linkHere(env, options, (event) => record.add(event));
    return new ScriptPeer(options.name, await link.call('publish', {}), link, record);
  }

  /** Its reply address, as it stands in frames. */
  get address(): string {
    return `uds:${this.socketPath}`;
  }

  /** Every complete line that came, auth lines included, in order of arrival. */
  get received(): readonly T.ReceivedFrame[] {
    return this.#record.frames.all;
  }

  /** The user frames among them. */
  get messages(): readonly T.ReceivedFrame[] {
    return this.received.filter((frame) => frame.frame?.type === 'user');
  }

  /** What happened on its socket: opened, bytes, line, end, close, each with the number of the connection. */
  get events(): readonly T.PeerEvent[] {
    return this.#record.events.all;
  }

  /** Every byte of one connection. */
  bytesOf(connection: number): Buffer {
    return Buffer.concat(
      this.events.flatMap((event) => {
        return event.type === 'bytes' && event.connection === connection
          ? [Buffer.from(event.base64, 'base64')]
          : [];
      }),
    );
  }

  /** The first frame, past or coming, that matches; those before `received[from]` are passed over. */
  waitForFrame(
    matches: (frame: T.ReceivedFrame) => boolean,
    timeoutMs = 10_000,
    from = 0,
  ): Promise<T.ReceivedFrame> {
    return this.#record.frames.wait(matches, `the frame at ${this.name}`, timeoutMs, from);
  }

  /** The first user frame, past or coming, whose content holds `part`. */
  waitForMessage(part: string | RegExp, timeoutMs = 10_000, from = 0): Promise<T.ReceivedFrame> {
    const holds = (text: string) => (typeof part === 'string' ? text.includes(part) : part.test(text));
    return this.waitForFrame(
      (frame) => frame.frame?.type === 'user' && holds(frame.content),
      timeoutMs,
      from,
    );
  }

  /** The first event, past or coming, that matches. */
  waitForEvent(matches: (event: T.PeerEvent) => boolean, timeoutMs = 10_000): Promise<T.PeerEvent> {
    return this.#record.events.wait(matches, `the socket event at ${this.name}`, timeoutMs);
  }

  /** Sends one message; resolves when the receiver hung up. A failed connection is in `error`, not thrown. */
  send(message: T.PeerMessage): Promise<T.SendResult & { msgId: string }> {
    return this.#link.call('send', message);
  }

  /** Sends to where a frame came from. */
  reply(
    to: T.ReceivedFrame,
    text: string,
    message: T.PeerMessage = {},
  ): Promise<T.SendResult & { msgId: string }> {
    return this.send({ socket: to.frame?.from?.replace(/^uds:/, '') ?? '', text, ...message });
  }

  /** Sends a control frame, e.g. `{to, fields: {action: 'notify_when_idle'}}`. */
  control(frame: T.ControlFrame): Promise<T.SendResult & { msgId: string }> {
    return this.#link.call('control', frame);
  }

  /** Sends any frame as it stands, after the auth line. */
  sendFrame(frame: T.Target & { readonly frame: object }): Promise<T.SendResult> {
    return this.#link.call('sendFrame', frame);
  }

  /** Sends bytes as they stand, in UTF-8 unless told; with `holdOpen` without EOF. */
  sendBytes(
    bytes: T.Target & {
      readonly bytes: string;
      readonly encoding?: 'utf8' | 'latin1';
      readonly holdOpen?: boolean;
    },
  ): Promise<T.SendResult> {
    return this.#link.call('sendBytes', bytes);
  }

  /** Changes fields of the published row; null removes one. */
  update(fields: object): Promise<null> {
    return this.#link.call('update', fields);
  }

  /** Ends it with row, key and socket removed. */
  close(): Promise<void> {
    return this.#link.close();
  }

  /** Ends its process without a word: row, key and socket stay. Only for a spawned peer. */
  kill(): Promise<void> {
    return this.#link.kill();
  }

  /** Every frame it got, for a failing test. */
  evidence(): string {
    return `${this.name} (pid ${this.pid})\n${this.#record.frames.describe()}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

class SocketRecord {
  readonly events = new Arrivals<T.PeerEvent>((event) => JSON.stringify(event).slice(0, 500));
  readonly frames = new Arrivals<T.ReceivedFrame>((frame) => frame.raw.slice(0, 500));

  add(event: T.PeerEvent): void {
    this.events.add(event);
    if (event.type !== 'line') return;
    const { connection, atMs, raw, frame, authed } = event;
    const content = String(frame?.message?.content ?? '');
    const body = /^<cross-session-message[^>]*>\n([\s\S]*)\n<\/cross-session-message>$/.exec(content)?.[1];
    this.frames.add({ connection, atMs, raw, frame, authed, content, body: body ?? content });
  }
}
