import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { probe } from '../../src/os/probe.ts';
import { child, deadSocket, listen, tempFolder, until } from './fixtures.ts';

it('finds a listener and gives it no byte', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 's');
  await using listener = await listen(path);
  expect(await probe(path)).toBe('accepts');
  await until(() => listener.received.length === 1);
  expect(listener.received).toEqual(['']);
});

it('tells a socket nobody listens on from no socket', async () => {
  using folder = tempFolder();
  const [dead, file, link] = ['dead', 'file', 'link'].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  await deadSocket(dead);
  writeFileSync(file, '');
  expect(await probe(dead)).toBe('refuses');
  expect(await probe(file)).toBe('absent');
  expect(await probe(join(folder.path, 'missing'))).toBe('absent');
  await using _listener = await listen(join(folder.path, 's'));
  symlinkSync(join(folder.path, 's'), link);
  expect(await probe(link)).toBe('absent');
});

it('does not connect to the socket of another user', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 's');
  await using _listener = await listen(path);
  const uid = process.getuid!() + 1;
  const spy = vi.spyOn(process, 'getuid').mockReturnValue(uid);
  onTestFinished(() => spy.mockRestore());
  expect(await probe(path)).toBe('absent');
});

it('ends when a process with a full backlog never accepts', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 's');
  const code = `
    const { createServer } = require('node:net');
    createServer().listen({ path: ${JSON.stringify(path)}, backlog: 1 }, () => {
      console.log('up');
      setTimeout(() => { for (const end = Date.now() + 10_000; Date.now() < end; ); process.exit(); }, 50);
    });`;
  await using owner = await child(process.execPath, '-e', code);
  await once(owner.process.stdout!, 'data');
  await new Promise((resolve) => setTimeout(resolve, 150));
  const startedAt = performance.now();
  const results = await Promise.all(Array.from({ length: 20 }, () => probe(path, 200)));
  expect(results).toContain('silent');
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

it('ends at its limit', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 's');
  await using _listener = await listen(path);
  const probing = probe(path, 1);
  // The limit is over before the answer can be seen.
  for (const end = performance.now() + 20; performance.now() < end; );
  expect(await probing).toBe('silent');
});

it('probes a hundred sockets at once', async () => {
  using folder = tempFolder();
  const path = join(folder.path, 's');
  await using _listener = await listen(path);
  const results = await Promise.all(Array.from({ length: 100 }, () => probe(path)));
  expect(new Set(results)).toEqual(new Set(['accepts']));
});
