import net from 'node:net';

/**
 * Listens as Claude Code does: takes everything, never writes a byte, hangs up after the sender's EOF.
 * `isToken` judges auth lines; `tell` gets every event, the number of its connection included.
 */
export function serve({ hangUp = 'after-eof', isToken, tell }) {
  const open = new Set();
  let connections = 0;
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    const connection = ++connections;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    record(socket, isToken, (event) => tell({ connection, atMs: Date.now(), ...event }));
    if (hangUp === 'at-once') socket.destroy();
    if (hangUp === 'on-data') socket.once('data', () => socket.destroy());
    if (hangUp === 'after-eof') socket.once('end', () => socket.end());
  });
  const close = () => {
    for (const socket of open) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  };
  return { server, close };
}

function record(socket, isToken, tell) {
  let pending = Buffer.alloc(0);
  let authed = false;
  tell({ type: 'open' });
  socket.on('data', (chunk) => {
    tell({ type: 'bytes', base64: chunk.toString('base64') });
    pending = Buffer.concat([pending, chunk]);
    for (let end = pending.indexOf('\n'); end >= 0; end = pending.indexOf('\n')) {
      const raw = pending.subarray(0, end).toString();
      pending = pending.subarray(end + 1);
      const frame = parsed(raw);
      if (frame?.type === 'auth') authed = isToken(frame.token);
      tell({ type: 'line', raw, frame, authed });
    }
  });
  socket.on('end', () => tell({ type: 'end', rest: pending.toString() }));
  socket.on('error', (error) => tell({ type: 'error', code: error.code ?? error.message }));
  socket.on('close', () => tell({ type: 'close' }));
}

/**
 * Writes `bytes`, a text in `encoding`, in one go, then EOF unless `holdOpen`. Resolves when the receiver hung up or the connection
 * failed; after `withinMs` with error `NOHANGUP`.
 */
export function deliver(path, { bytes, encoding = 'utf8', holdOpen = false, withinMs = 10_000 }) {
  const started = performance.now();
  return new Promise((resolve) => {
    const connection = net.connect({ path, allowHalfOpen: true });
    let answered = '';
    let error = null;
    const write = () => (holdOpen ? connection.write(bytes, encoding) : connection.end(bytes, encoding));
    connection.on('connect', write);
    connection.on('data', (chunk) => {
      answered += chunk;
    });
    connection.on('end', () => connection.end());
    connection.on('error', (cause) => {
      error = cause.code ?? cause.message;
    });
    connection.setTimeout(withinMs, () => {
      error = 'NOHANGUP';
      connection.destroy();
    });
    connection.on('close', () => resolve({ answered, error, tookMs: performance.now() - started }));
  });
}

function parsed(raw) {
  try {
    return JSON.parse(raw);
  } catch {
    return null;
  }
}
