import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  keyFile,
  rowFile,
  rowOfThisProcess,
  socketFolder,
  socketOf,
  tokenOf,
  writeAtomic,
} from './script-peer-registry.mjs';
import { deliver, serve } from './script-peer-socket.mjs';

/**
 * A native peer for tests: row, key and socket as Claude Code 2.1.332 publishes them, every byte recorded.
 * Plain JavaScript, for it also runs as a process of its own, and free of `src/`, for it judges the product.
 */
export class PeerCore {
  #env;
  #options;
  #row;
  #socketPath;
  #listening;
  #token = randomBytes(16).toString('hex');
  #hopKey = randomBytes(32);

  constructor(env, options, tell) {
    this.#env = env;
    this.#options = options;
    this.#socketPath = options.socketPath ?? join(socketFolder(env), `${process.pid}.sock`);
    this.#row = { ...rowOfThisProcess(options.name, this.#socketPath), ...options.row };
    this.#listening = serve({ hangUp: options.hangUp, isToken: (token) => token === this.#token, tell });
  }

  /** Socket, key, row, in this order. */
  async publish() {
    for (const file of [rowFile(this.#env), this.#socketPath]) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    }
    rmSync(this.#socketPath, { force: true });
    await once(this.#listening.server.listen(this.#socketPath), 'listening');
    chmodSync(this.#socketPath, 0o600);
    const { pid, sessionId, procStart, pidDomain } = this.#row;
    const key = { peerToken: this.#token, procStart, pidDomain };
    if (this.#options.key !== false) writeAtomic(keyFile(this.#env, this.#socketPath), key);
    if (this.#options.publishRow !== false) this.#writeRow();
    return { pid, sessionId, socketPath: this.#socketPath, token: this.#token };
  }

  /** Changes fields of the row; null removes one. */
  async update(fields) {
    const updatedAt = Date.now();
    const status = 'status' in fields ? { statusUpdatedAt: updatedAt } : {};
    this.#row = { ...this.#row, updatedAt, ...status, ...fields };
    this.#writeRow();
  }

  /** One message in Claude's envelope. Resolves when the receiver hung up or the connection failed. */
  async send(message) {
    const { from = this.#address, msgId = randomUUID(), priority = 'next', mark, fields } = message;
    const frame = {
      msgV: 1,
      msg_id: msgId,
      type: 'user',
      message: { role: 'user', content: message.content ?? this.#envelope({ ...message, from }) },
      priority,
      ...(from !== null && { from }),
      ...(mark && { peerwire: mark }),
      ...fields,
    };
    return { msgId, ...(await this.sendFrame({ ...message, frame })) };
  }

  /** A control frame: `action` and whatever belongs to it. */
  async control({ fields, ...target }) {
    const msgId = fields.msg_id ?? randomUUID();
    const common = { from: this.#address, from_mode: 'prompting', msgV: 1, msg_id: msgId };
    return {
      msgId,
      ...(await this.sendFrame({ ...target, frame: { type: 'control', ...common, ...fields } })),
    };
  }

  /** Any frame, after the auth line that `auth` asks for: the receiver's key, a wrong one, or none. */
  async sendFrame({ to, socket = socketOf(this.#env, to), auth = 'key', withinMs, frame }) {
    const tokens = { key: tokenOf(this.#env, socket), wrong: '0'.repeat(32), none: null };
    const token = tokens[auth];
    const lines = token ? [{ type: 'auth', token }, frame] : [frame];
    return deliver(socket, { bytes: lines.map((line) => `${JSON.stringify(line)}\n`).join(''), withinMs });
  }

  /** These bytes and nothing else; `holdOpen` leaves our side open. */
  async sendBytes({ to, socket = socketOf(this.#env, to), ...what }) {
    return deliver(socket, what);
  }

  /** Row, key, socket, in this order. */
  async withdraw() {
    rmSync(rowFile(this.#env), { force: true });
    rmSync(keyFile(this.#env, this.#socketPath), { force: true });
    await this.#listening.close();
    rmSync(this.#socketPath, { force: true });
  }

  get #address() {
    return `uds:${this.#socketPath}`;
  }

  #writeRow() {
    const fields = Object.entries(this.#row).filter(([, value]) => value !== null);
    writeAtomic(rowFile(this.#env), Object.fromEntries(fields));
  }

  /** Attribute order and escapes are Claude's; a receiver takes any other form for plain text. */
  #envelope({ text, from, fromMode = 'prompting', fromName = this.#row.name, hopChain }) {
    const chain = hopChain && [...hopChain, this.#hopToken].join(',');
    const attributes = { from, 'hop-chain': chain, 'from-name': fromName, 'from-mode': fromMode };
    const written = Object.entries(attributes).flatMap(([name, value]) =>
      value ? [` ${name}="${value}"`] : [],
    );
    const body = text.replace(/<(?=\/?(?:cross-session-message|teammate-message|agent-message))/g, '<\\');
    return `<cross-session-message${written.join('')}>\n${body}\n</cross-session-message>`;
  }

  get #hopToken() {
    return createHmac('sha256', this.#hopKey).update(this.#address).digest('hex').slice(0, 24);
  }
}
