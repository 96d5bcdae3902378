import { once } from 'node:events';
import { readFileSync, readlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { probe } from '../../src/os/probe.ts';
import { isSameProcess, isStopped, pidDomain, processStart, processState } from '../../src/os/proc.ts';
import { child, deadPid, sleeper, tempFolder, until, zombie } from './fixtures.ts';

it('reads the start of a process as the string a row carries', async () => {
  await using other = await sleeper();
  expect(processStart(other.pid)).toMatch(/^\d+$/);
  expect(Number(processStart(other.pid))).toBeGreaterThanOrEqual(Number(processStart(process.pid)));
});

it('reads the right fields when the program has blanks and parentheses in its name', async () => {
  const code = `process.title = 'a) R 1 (b'; console.log('up'); setTimeout(() => {}, 60_000)`;
  await using named = await child(process.execPath, '-e', code);
  await once(named.process.stdout!, 'data');
  expect(readFileSync(`/proc/${named.pid}/stat`, 'utf8')).toContain('(a) R 1 (b)');
  expect(processStart(named.pid)).toMatch(/^\d{3,}$/);
  expect(processState(named.pid)).toMatch(/^[RS]$/);
});

it('knows no start and no state of a process that is gone', async () => {
  const pid = await deadPid();
  expect(processStart(pid)).toBeNull();
  expect(processState(pid)).toBeNull();
  expect(isSameProcess(pid, undefined)).toBe(false);
});

it('takes a pid with another start time for another process', async () => {
  await using other = await sleeper();
  const start = processStart(other.pid)!;
  expect(isSameProcess(other.pid, start)).toBe(true);
  expect(isSameProcess(other.pid, `${start}1`)).toBe(false);
  expect(isSameProcess(other.pid, undefined)).toBe(true);
});

it('sees a stopped process as stopped and still the same', async () => {
  await using other = await sleeper();
  const start = processStart(other.pid)!;
  other.process.kill('SIGSTOP');
  await until(() => isStopped(processState(other.pid)!));
  expect(isSameProcess(other.pid, start)).toBe(true);
});

it('counts a zombie as ended', async () => {
  await using ended = await zombie();
  expect(processState(ended.pid)).toBe('Z');
  expect(isSameProcess(ended.pid, processStart(ended.pid)!)).toBe(false);
});

it('computes the pid domain as Claude Code writes it', () => {
  const machineId = readFileSync('/etc/machine-id', 'utf8').trim();
  expect(pidDomain()).toBe(`linux:${machineId}:${readlinkSync('/proc/self/ns/pid')}`);
  expect(pidDomain()).toMatch(/^linux:[0-9a-f]{32}:pid:\[\d+\]$/);
});

it('takes a killed process for ended only when all its threads, and so its sockets, are gone', async () => {
  using folder = tempFolder();
  for (let round = 0; round < 12; round++) {
    const path = `${folder.path}/${round}.sock`;
    const code = `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`;
    await using listener = await child(process.execPath, '-e', code);
    await once(listener.process.stdout!, 'data');
    listener.process.kill('SIGKILL');
    await until(() => !isSameProcess(listener.pid, undefined));
    expect(await probe(path)).toBe('refuses');
  }
});
