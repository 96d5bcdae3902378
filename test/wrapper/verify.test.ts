import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadPeerCredentials } from '../../src/os/peer-credentials.ts';
import { processStart } from '../../src/os/proc.ts';
import { type Connecting, identify, verify } from '../../src/wrapper/verify.ts';

let folder: string;
let server: Server;
let accepted: Promise<Socket>;

beforeEach(async () => {
  loadPeerCredentials();
  folder = mkdtempSync('/tmp/vf-');
  server = createServer({ allowHalfOpen: true });
  accepted = new Promise((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve) => server.listen(join(folder, 'own.sock'), resolve));
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const own = () => join(folder, 'own.sock');
const start = processStart(process.pid) ?? '';

function writeRow(fields: object): void {
  writeFileSync(
    join(folder, `${process.pid}.json`),
    JSON.stringify({ name: 'alpha', sessionId: 's1', ...fields }),
  );
}

/** This process, as it is seen when it connects. */
async function connecting(): Promise<Connecting | null> {
  const socket = connect(own());
  const found = identify(await accepted, folder);
  socket.destroy();
  return found;
}

describe('who connected', () => {
  it('is the process, its start and its row', async () => {
    writeRow({ procStart: start, messagingSocketPath: own() });
    expect(await connecting()).toMatchObject({ pid: process.pid, procStart: start, row: { name: 'alpha' } });
  });

  it('has no row when the row is of an earlier process with the same pid', async () => {
    writeRow({ procStart: '1', messagingSocketPath: own() });
    expect(await connecting()).toEqual({ pid: process.pid, procStart: start, row: null });
  });

  it('has no row when it publishes none', async () => {
    expect(await connecting()).toEqual({ pid: process.pid, procStart: start, row: null });
  });
});

describe('a message', () => {
  const row = (messagingSocketPath: string) => ({
    pid: process.pid,
    name: 'alpha',
    sessionId: 's1',
    messagingSocketPath,
  });
  const me = (over: Partial<Connecting> = {}): Connecting => ({
    pid: process.pid,
    procStart: start,
    row: null,
    ...over,
  });

  it('is from the process that listens on its address', async () => {
    const address = { socketPath: own(), pid: process.pid, procStart: start, sessionId: 's1' };
    expect(await verify(own(), me({ row: row(own()) }))).toMatchObject({
      sender: { kind: 'claude', name: 'alpha', replyTo: address },
    });
  });

  it('is refused when its process started at another time than the one that listens', async () => {
    expect(await verify(own(), me({ procStart: '1' }))).toEqual({ refusal: 'foreign-address' });
  });

  it('is refused when another process listens on its address', async () => {
    expect(await verify(own(), me({ pid: 1 }))).toEqual({ refusal: 'foreign-address' });
  });

  it('is refused when the kernel does not say who connected', async () => {
    expect(await verify(null, null)).toEqual({ refusal: 'unknown-process' });
  });

  it('is taken without an answer when its sender is gone and its row named that address', async () => {
    const gone = join(folder, 'gone.sock');
    expect(await verify(gone, me({ row: row(gone) }))).toMatchObject({
      address: null,
      sender: { replyTo: null },
    });
    expect(await verify(gone, me({ row: row('/elsewhere.sock') }))).toEqual({ refusal: 'foreign-address' });
  });

  it('without an address is taken, and not answered', async () => {
    expect(await verify(null, me())).toEqual({
      sender: { kind: 'script', name: '', replyTo: null },
      address: null,
    });
  });

  it.each([
    [{ bridge: 'peerwire' }, 'codex'],
    [{ bridge: 'peerwire', entrypoint: 'peer-cli' }, 'command'],
    [{}, 'claude'],
  ])('of a row with %j is from a %s', async (fields, kind) => {
    expect(await verify(null, me({ row: { ...row(own()), ...fields } }))).toMatchObject({ sender: { kind } });
  });
});
