import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { beforeEach, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { TOOLS } from '../../src/tools/definitions.ts';
import { peerCommand } from '../real/peer-process.ts';
import { send, untilGone } from '../real/processes.ts';
import { openWorld, type World } from '../real/temp.ts';
import { MODERN, StdioClient } from './stdio-client.ts';

const NAMES = TOOLS.map(({ name }) => name);
const serverInfo = { name: 'peer', version: packageJson.version };

let world: World;
beforeEach(() => {
  world = openWorld();
});

const open = () => world.own(new StdioClient(world.env));

describe('either era', () => {
  test('the handshake: tools with their schemas, and calls of them', async () => {
    const client = open();
    expect((await client.initialize()).result).toMatchObject({ protocolVersion: '2025-06-18', serverInfo });
    const { tools } = (await client.request('tools/list')).result;
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(NAMES);
    expect(tools).toMatchObject(TOOLS.map(({ description, inputSchema }) => ({ description, inputSchema })));
    const readOnly = tools.filter((tool: { annotations: object }) => 'readOnlyHint' in tool.annotations);
    expect(readOnly.map(({ annotations }: { annotations: object }) => annotations)).toEqual(
      NAMES.map((name) => ({ readOnlyHint: name === 'list_agents' })),
    );
    const called = await client.request('tools/call', { name: 'list_agents', arguments: {} });
    expect(called.result).toMatchObject({ isError: false, content: [{ type: 'text' }] });
  });

  test('the stateless one: discovery, tools, and a call that names its thread', async () => {
    const client = open();
    const discovered = await client.modernRequest('server/discover');
    expect(discovered.result.supportedVersions).toContain(MODERN);
    const { tools } = (await client.modernRequest('tools/list')).result;
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(NAMES);
    const params = { name: 'ask', arguments: {}, _meta: { threadId: 'thread-7' } };
    const { result } = await client.modernRequest('tools/call', params);
    expect(result).toMatchObject({ isError: true });
    expect(result.content[0].text).toContain('--thread thread-7');
  });

  test('a client that tries the stateless one first and falls back', async () => {
    const client = open();
    await client.modernRequest('server/discover');
    expect((await client.initialize('2025-11-25')).result).toMatchObject({ protocolVersion: '2025-11-25' });
    expect((await client.request('tools/list')).result.tools).toHaveLength(NAMES.length);
  });
});

test('an unknown tool and an unknown method are errors of the protocol', async () => {
  const client = open();
  await client.initialize();
  expect((await client.request('tools/call', { name: 'nope' })).error).toMatchObject({ code: -32602 });
  expect((await client.request('resources/list')).error).toMatchObject({ code: -32601 });
});

test('what is no MCP is passed over in silence, and stdout holds nothing but MCP', async () => {
  const client = open();
  client.process.stdin!.write('hello\n\n{"no":"rpc"}\n');
  await client.initialize();
  await client.request('tools/list');
  client.process.stdin!.end();
  expect(await client.exited).toEqual({ code: 0, signal: null });
  expect(client.lines.all.every((line) => line.jsonrpc === '2.0')).toBe(true);
  expect(client.stderr).toBe('');
});

describe('its end', () => {
  test('comes with the end of stdin, before anything was said too', async () => {
    const silent = open();
    silent.process.stdin!.end();
    const used = open();
    await used.initialize();
    used.process.stdin!.end();
    expect(await Promise.all([silent.exited, used.exited])).toEqual([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
  });

  test.each(['SIGHUP', 'SIGTERM', 'SIGINT'] as const)('comes with %s', async (signal) => {
    const client = open();
    await client.initialize();
    client.process.kill(signal);
    expect(await client.exited).toEqual({ code: 0, signal: null });
  });

  test('comes when nobody reads its stdout any more', async () => {
    const client = open();
    await client.initialize();
    client.process.stdout!.destroy();
    for (const _ of [1, 2]) client.send('tools/list');
    expect(await client.exited).toEqual({ code: 0, signal: null });
  });

  test('comes when its parent dies, although somebody holds its stdin open', async () => {
    const [node = '', ...peer] = peerCommand;
    const line = `sleep 60 | "$0" "$@" mcp >/dev/null & echo $!; wait`;
    const shell = spawn('/bin/sh', ['-c', line, node, ...peer], { env: world.env });
    const [output] = await once(shell.stdout, 'data');
    const pid = Number(String(output));
    expect(await untilGone(pid, 1_500)).toBe(false);
    send(shell.pid!, 'SIGKILL');
    expect(await untilGone(pid, 5_000)).toBe(true);
  });

  test('of 20 that were started and abandoned leaves none', async () => {
    const clients = Array.from({ length: 20 }, open);
    await Promise.all(clients.slice(0, 10).map((client) => client.initialize()));
    for (const [index, { process }] of clients.entries()) {
      if (index % 2 === 0) process.stdin!.destroy();
      else process.stdin!.end();
    }
    await Promise.all(clients.map((client) => client.exited));
    expect(world.processes()).toEqual([]);
  });
});
