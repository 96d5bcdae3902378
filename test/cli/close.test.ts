import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isSameProcess } from '../../src/os/proc.ts';
import { runPeer } from '../real/peer-process.ts';
import { openWorld } from '../real/temp.ts';
import { HAS_STACK } from './sentences.ts';
import { SlowProcess } from './slow-process.ts';
import { claudePeer, wrappedPeer } from './wrapped-peer.ts';

test('a wrapped peer is ended, and its row and socket are gone when the command says so', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  expect(await runPeer(['close', 'sol'], { env: world.env })).toEqual({
    code: 0,
    stdout: 'Sol is closed\n',
    stderr: '',
  });
  expect(isSameProcess(sol.pid, undefined)).toBe(false);
  expect(readdirSync(join(world.claudeDir, 'sessions'))).not.toContain(`${sol.pid}.json`);
  expect(readdirSync(join(world.runtimeDir, 'cc-socks'))).toEqual([]);
});

test('a wrapper that takes its time has ended when the command says so', async () => {
  await using world = openWorld();
  const sol = await SlowProcess.start(world, 'Sol', 700);
  expect(await runPeer(['close', 'Sol'], { env: world.env })).toMatchObject({ code: 0 });
  expect(isSameProcess(sol.pid, undefined)).toBe(false);
});

test('a stopped wrapper is woken to end', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  process.kill(sol.pid, 'SIGSTOP');
  expect((await runPeer(['close', 'Sol'], { env: world.env })).code).toBe(0);
  expect(isSameProcess(sol.pid, undefined)).toBe(false);
});

test('a peer that is still opening can be closed', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  await sol.update({ state: 'opening', messagingSocketPath: null });
  expect((await runPeer(['close', 'Sol'], { env: world.env })).code).toBe(0);
  expect(isSameProcess(sol.pid, undefined)).toBe(false);
});

test('a Claude Code session is not ours to end', async () => {
  await using world = openWorld();
  const alpha = await claudePeer(world, 'alpha');
  const ended = await runPeer(['close', 'alpha'], { env: world.env });
  expect(ended).toMatchObject({ code: 4, stdout: '' });
  expect(ended.stderr).toMatch(/^peer: alpha \(pid \d+\) is not a peer of ours.*\nEnd it in its own window/);
  expect(isSameProcess(alpha.pid, undefined)).toBe(true);
});

test('of a wrapped peer and a session with one name the wrapped peer is meant', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol');
  const claude = await claudePeer(world, 'sol');
  expect((await runPeer(['close', 'Sol'], { env: world.env })).code).toBe(0);
  expect(isSameProcess(sol.pid, undefined)).toBe(false);
  expect(isSameProcess(claude.pid, undefined)).toBe(true);
});

test('a row whose pid is now another process ends nobody', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol', { procStart: '1' });
  const ended = await runPeer(['close', 'Sol'], { env: world.env });
  expect(ended).toMatchObject({ code: 3, stdout: '' });
  expect(ended.stderr).not.toMatch(HAS_STACK);
  expect(isSameProcess(sol.pid, undefined)).toBe(true);
});

test('a peer of another container is not ended by a pid that means somebody else here', async () => {
  await using world = openWorld();
  const sol = await wrappedPeer(world, 'Sol', { pidDomain: 'linux:elsewhere:pid:[1]' });
  const ended = await runPeer(['close', 'Sol'], { env: world.env });
  expect(ended).toMatchObject({ code: 4, stdout: '' });
  expect(ended.stderr).toContain('another container');
  expect(isSameProcess(sol.pid, undefined)).toBe(true);
});

test('an unknown name is exit 3', async () => {
  await using world = openWorld();
  expect(await runPeer(['close', 'Sol'], { env: world.env })).toMatchObject({ code: 3, stdout: '' });
});
