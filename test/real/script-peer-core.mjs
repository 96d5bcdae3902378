import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';

/**
 * A native peer for tests: row, key and socket as Claude Code 2.1.332 publishes them, every byte recorded.
 * Plain JavaScript, for it also runs as a process of its own, and free of `src/`, for it judges the product.
 */
export class PeerCore {
  #env;
  #options;
  #onEvent;
  #server;
  #hopKey = randomBytes(32);
  #connections = 0;
  #open = new Set();
  #row;
  token = randomBytes(16).toString('hex');

  constructor(env, options, onEvent) {
    this.#env = env;
    this.#options = options;
    this.#onEvent = onEvent;
    this.socketPath = options.socketPath ?? join(socketFolder(env), `${process.pid}.sock`);
    this.#row = this.#firstRow();
  }

  /** Socket, key, row, in this order. */
  async publish() {
    for (const folder of [sessionsFolder(this.#env), socketFolder(this.#env)]) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    }
    rmSync(this.socketPath, { force: true });
    this.#server = net.createServer({ allowHalfOpen: true }, (socket) => this.#serve(socket));
    await new Promise((resolve, reject) =>
      this.#server.once('error', reject).listen(this.socketPath, resolve),
    );
    chmodSync(this.socketPath, 0o600);
    const { procStart, pidDomain } = this.#row;
    if (this.#options.key !== false)
      writeAtomic(this.#keyFile, { peerToken: this.token, procStart, pidDomain });
    if (this.#options.publishRow !== false) writeAtomic(this.#rowFile, this.#row);
    return {
      pid: process.pid,
      socketPath: this.socketPath,
      token: this.token,
      sessionId: this.#row.sessionId,
    };
  }

  /** Changes fields of the row; null removes one. */
  update(fields) {
    const updatedAt = Date.now();
    this.#row = {
      ...this.#row,
      updatedAt,
      ...('status' in fields && { statusUpdatedAt: updatedAt }),
      ...fields,
    };
    for (const [name, value] of Object.entries(fields)) if (value === null) delete this.#row[name];
    writeAtomic(this.#rowFile, this.#row);
  }

  /** One message in Claude's envelope. Resolves when the receiver hung up or the connection failed. */
  async send(message) {
    const msgId = message.msgId ?? randomUUID();
    const frame = {
      msgV: 1,
      msg_id: msgId,
      type: 'user',
      message: { role: 'user', content: message.content ?? this.#envelope(message) },
      priority: message.priority ?? 'next',
      ...(message.from !== null && { from: message.from ?? `uds:${this.socketPath}` }),
      ...(message.mark && { peerwire: message.mark }),
      ...message.fields,
    };
    return { msgId, ...(await this.sendFrame({ ...message, frame })) };
  }

  /** A control frame: `action` and whatever belongs to it. */
  async control({ fields, ...where }) {
    const msgId = fields.msg_id ?? randomUUID();
    const common = { from: `uds:${this.socketPath}`, from_mode: 'prompting', msgV: 1, msg_id: msgId };
    const frame = { type: 'control', ...common, ...fields };
    return { msgId, ...(await this.sendFrame({ ...where, frame })) };
  }

  /** Any frame, after the auth line that `auth` asks for: the receiver's key, a wrong one, or none. */
  sendFrame({ to, socket, auth = 'key', frame }) {
    const target = socket ?? this.#socketOf(to);
    const token = auth === 'key' ? tokenOf(this.#env, target) : auth === 'wrong' ? '0'.repeat(32) : null;
    const lines = [...(token ? [{ type: 'auth', token }] : []), frame].map(
      (line) => `${JSON.stringify(line)}\n`,
    );
    return this.sendBytes({ socket: target, bytes: lines.join('') });
  }

  /** These bytes and nothing else; `holdOpen` leaves our side open. */
  sendBytes({ to, socket, bytes, holdOpen = false }) {
    const started = performance.now();
    return new Promise((resolve) => {
      const connection = net.connect({ path: socket ?? this.#socketOf(to), allowHalfOpen: true });
      let answered = '';
      let error = null;
      connection.on('connect', () => (holdOpen ? connection.write(bytes) : connection.end(bytes)));
      connection.on('data', (chunk) => (answered += chunk));
      connection.on('end', () => connection.end());
      connection.on('error', (cause) => (error = cause.code ?? cause.message));
      connection.on('close', () => resolve({ answered, error, tookMs: performance.now() - started }));
    });
  }

  async withdraw() {
    rmSync(this.#rowFile, { force: true });
    rmSync(this.#keyFile, { force: true });
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => (this.#server ? this.#server.close(resolve) : resolve()));
    rmSync(this.socketPath, { force: true });
  }

  get #rowFile() {
    return join(sessionsFolder(this.#env), `${process.pid}.json`);
  }

  get #keyFile() {
    return join(sessionsFolder(this.#env), `${process.pid}.${hashOf(this.socketPath)}.key`);
  }

  #firstRow() {
    const now = Date.now();
    return {
      pid: process.pid,
      sessionId: randomUUID(),
      cwd: process.cwd(),
      startedAt: now,
      procStart: procStart(),
      version: '2.1.332',
      peerProtocol: 1,
      peerFeatures: ['notify_idle', 'reply_across_default_dirs'],
      kind: 'interactive',
      entrypoint: 'cli',
      pidDomain: pidDomain(),
      messagingSocketPath: this.socketPath,
      name: this.#options.name,
      nameSource: 'user',
      nameSince: now,
      updatedAt: now,
      status: 'idle',
      statusUpdatedAt: now,
      ...this.#options.row,
    };
  }

  /** Attribute order and escapes are Claude's; a receiver takes any other form for plain text. */
  #envelope({ text, from, fromMode = 'prompting', fromName = this.#row.name, hopChain = [] }) {
    const attributes = [];
    if (from !== null) attributes.push(`from="${from ?? `uds:${this.socketPath}`}"`);
    if (hopChain.length > 0) attributes.push(`hop-chain="${[...hopChain, this.#hopToken()].join(',')}"`);
    if (fromName) attributes.push(`from-name="${fromName}"`);
    if (fromMode) attributes.push(`from-mode="${fromMode}"`);
    const body = text.replace(/<(?=\/?(?:cross-session-message|teammate-message|agent-message))/g, '<\\');
    return `<cross-session-message ${attributes.join(' ')}>\n${body}\n</cross-session-message>`;
  }

  #hopToken() {
    return createHmac('sha256', this.#hopKey).update(`uds:${this.socketPath}`).digest('hex').slice(0, 24);
  }

  #socketOf(name) {
    const row = rowsIn(this.#env).find((each) => each.name === name && each.pid !== process.pid);
    if (!row?.messagingSocketPath) throw new Error(`no peer named ${name} in the registry`);
    return row.messagingSocketPath;
  }

  /** Records everything, writes nothing, hangs up after the sender's EOF. */
  #serve(socket) {
    const connection = ++this.#connections;
    const tell = (event) => this.#onEvent({ connection, atMs: Date.now(), ...event });
    const { hangUp = 'after-eof' } = this.#options;
    let pending = Buffer.alloc(0);
    let isAuthed = false;
    this.#open.add(socket);
    tell({ type: 'open' });
    socket.on('data', (chunk) => {
      tell({ type: 'bytes', base64: chunk.toString('base64') });
      pending = Buffer.concat([pending, chunk]);
      for (let end = pending.indexOf(10); end >= 0; end = pending.indexOf(10)) {
        const raw = pending.subarray(0, end).toString();
        pending = pending.subarray(end + 1);
        const frame = parsed(raw);
        if (frame?.type === 'auth') isAuthed = frame.token === this.token;
        tell({ type: 'line', raw, frame, authed: isAuthed });
      }
      if (hangUp === 'on-data') socket.destroy();
    });
    socket.on('end', () => {
      tell({ type: 'end', rest: pending.toString() });
      if (hangUp === 'after-eof') socket.end();
    });
    socket.on('error', (error) => tell({ type: 'error', code: error.code ?? error.message }));
    socket.on('close', () => {
      this.#open.delete(socket);
      tell({ type: 'close' });
    });
    if (hangUp === 'at-once') socket.destroy();
  }
}

function parsed(raw) {
  try {
    return JSON.parse(raw);
  } catch {
    return null;
  }
}

function sessionsFolder(env) {
  return join(env.CLAUDE_CONFIG_DIR ?? join(env.HOME, '.claude'), 'sessions');
}

function socketFolder(env) {
  return env.XDG_RUNTIME_DIR ? join(env.XDG_RUNTIME_DIR, 'cc-socks') : `/tmp/cc-socks-${process.getuid()}`;
}

function rowsIn(env) {
  const folder = sessionsFolder(env);
  const files = readdirSync(folder).filter((file) => /^\d+\.json$/.test(file));
  return files.flatMap((file) => parsed(readFileSync(join(folder, file), 'utf8')) ?? []);
}

function tokenOf(env, socketPath) {
  const folder = sessionsFolder(env);
  const file = readdirSync(folder).find((each) => each.endsWith(`.${hashOf(socketPath)}.key`));
  return file ? JSON.parse(readFileSync(join(folder, file), 'utf8')).peerToken : null;
}

function hashOf(socketPath) {
  return createHash('sha256').update(socketPath).digest('hex');
}

function procStart() {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function pidDomain() {
  return `linux:${readFileSync('/etc/machine-id', 'utf8').trim()}:${readlinkSync('/proc/self/ns/pid')}`;
}

function writeAtomic(file, value) {
  const temporary = `${file}.tmp.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 });
  renameSync(temporary, file);
}
