import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownControlSocket } from '../../src/control/place.ts';
import { type ControlHandlers, type ControlServer, serveControl } from '../../src/control/server.ts';
import { PeerError } from '../../src/errors.ts';
import { type RoutedCall, route } from '../../src/mcp/route.ts';
import { pidDomain, processStart } from '../../src/os/proc.ts';
import { endlessTool, STATUS } from '../control/sockets.ts';
import { deadPid, deadSocket, type TempFolder, tempFolder, until } from '../os/fixtures.ts';

const THREAD = '01a22e20-0000-7000-8000-000000000001';
const caller = { threadId: THREAD, turnId: 'u1', callId: 'c1' };
const nobody = { threadId: null, turnId: null, callId: null };
const never = new AbortController().signal;

let folder: TempFolder;
let control: ControlServer | null;

beforeEach(() => {
  folder = tempFolder();
  mkdirSync(join(folder.path, 'sessions'));
  control = null;
});
afterEach(async () => {
  await control?.close();
  folder[Symbol.dispose]();
});

/** A row of this process, which is a live one. */
function publish(fields: object = {}, pid = process.pid): void {
  const messagingSocketPath = join(folder.path, `${pid}.sock`);
  const own = { pid, procStart: processStart(process.pid), pidDomain: pidDomain(), bridge: 'peerwire' };
  const row = { ...own, name: 'Sol', sessionId: THREAD, messagingSocketPath, ...fields };
  writeFileSync(join(folder.path, 'sessions', `${pid}.json`), JSON.stringify(row));
}

async function serve(tool: ControlHandlers['tool']): Promise<void> {
  const handlers = { status: () => STATUS, tool };
  control = await serveControl({ socketPath: ownControlSocket(process.pid), handlers, log: { write() {} } });
}

function call(fields: Partial<RoutedCall> = {}) {
  const args = { to: 'Luna', text: 'hello' };
  const routed = { caller, tool: 'send_message', arguments: args, signal: never, ...fields } as const;
  return route(routed, { CLAUDE_CONFIG_DIR: folder.path });
}

describe('a call from the thread of an open peer', () => {
  beforeEach(() => publish());

  test('is handed to its wrapper, with all that the wrapper needs, and gets the result from there', async () => {
    await serve(async (params) => ({ text: JSON.stringify(params), success: true }));
    const { text, success } = await call();
    expect(success).toBe(true);
    expect(JSON.parse(text)).toEqual({
      ...caller,
      tool: 'send_message',
      arguments: { to: 'Luna', text: 'hello' },
    });
  });

  test('list_agents too, so that the peer sees itself by its name', async () => {
    await serve(async ({ tool }) => ({ text: `${tool} of Sol`, success: true }));
    expect(await call({ tool: 'list_agents' })).toEqual({ text: 'list_agents of Sol', success: true });
  });

  test("a refusal is a result in the wrapper's words", async () => {
    await serve(() =>
      Promise.reject(new PeerError('refused', 'Nothing was done: Sol serves another thread.')),
    );
    expect(await call()).toEqual({ text: 'Nothing was done: Sol serves another thread.', success: false });
  });

  test('a wrapper that ends before it answers leaves it open whether it acted', async () => {
    const { calls, tool } = endlessTool();
    await serve(tool);
    const result = call();
    await until(() => calls.length === 1);
    await control?.close();
    expect(await result).toMatchObject({
      success: false,
      text: expect.stringContaining('whether anything was sent is not known'),
    });
  });

  test('a wrapper without a control socket takes no calls', async () => {
    expect(await call()).toMatchObject({
      success: false,
      text: expect.stringContaining('takes no tool calls'),
    });
  });

  test('a wrapper that is going takes no calls any more', async () => {
    const path = ownControlSocket(process.pid);
    await deadSocket(path);
    expect(await call()).toEqual({
      text: 'Nothing was done: Sol is closing. Try again in a moment.',
      success: false,
    });
    rmSync(path);
  });

  test('a client that gives up abandons the call at the wrapper', async () => {
    const { calls, abandoned, tool } = endlessTool();
    await serve(tool);
    const giveUp = new AbortController();
    const result = call({ signal: giveUp.signal });
    await until(() => calls.length === 1);
    giveUp.abort();
    await expect(result).rejects.toMatchObject({ word: 'interrupted' });
    await abandoned;
  });
});

describe('a call from a thread that is not open as a peer', () => {
  const remedy = `peer open <Name> --thread ${THREAD}`;

  test.each([
    ['no row', () => {}],
    ['a row of another thread', () => publish({ sessionId: 'other' })],
    ['a Claude Code session of that id', () => publish({ bridge: undefined })],
    ['a row whose pid is another process now', () => publish({ procStart: '1' })],
  ])('%s: is told how a person opens it', async (_what, prepare) => {
    prepare();
    const { calls, tool } = endlessTool();
    await serve(tool);
    expect(await call()).toMatchObject({ success: false, text: expect.stringContaining(remedy) });
    expect(calls).toEqual([]);
  });

  test('the row of a dead process', async () => {
    publish({}, await deadPid());
    expect(await call()).toMatchObject({ success: false, text: expect.stringContaining(remedy) });
  });

  test('one that opens just now', async () => {
    publish({ state: 'opening', messagingSocketPath: undefined });
    expect(await call()).toEqual({
      text: 'Nothing was done: Sol is still opening. Try again in a moment.',
      success: false,
    });
  });

  test('may list the others', async () => {
    expect(await call({ tool: 'list_agents' })).toMatchObject({
      success: true,
      text: expect.stringContaining('Nobody is here.'),
    });
  });
});

test('a call that names no thread may list and nothing else, whoever is open', async () => {
  publish();
  const { calls, tool } = endlessTool();
  await serve(tool);
  expect(await call({ caller: nobody, tool: 'list_agents' })).toMatchObject({ success: true });
  for (const tool of ['send_message', 'ask'] as const) {
    expect(await call({ caller: nobody, tool })).toMatchObject({
      success: false,
      text: expect.stringContaining('only list_agents works here'),
    });
  }
  expect(calls).toEqual([]);
});

test('a folder of sessions that cannot be read is a result, not a failure of the server', async () => {
  const env = { CLAUDE_CONFIG_DIR: join(folder.path, 'file') };
  writeFileSync(env.CLAUDE_CONFIG_DIR, '');
  const routed = { caller, tool: 'ask', arguments: {}, signal: never } as const;
  expect(await route(routed, env)).toMatchObject({
    success: false,
    text: expect.stringContaining('cannot be read'),
  });
});
