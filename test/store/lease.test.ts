import { expect, it } from 'vitest';
import { isStopped, processStart, processState } from '../../src/os/proc.ts';
import { type ProcessIdentity, thisProcess } from '../../src/store/lease.ts';
import { child, sleeper, until } from '../os/fixtures.ts';
import { DEAD, OTHER_THREAD, store } from './fixtures.ts';
import { advance, claim, message, unknown } from './steps.ts';

const identity = (pid: number): ProcessIdentity => ({ ...DEAD, pid, procStart: processStart(pid) });

it('is not taken from a living process, and says who has it', async () => {
  using at = store();
  await using owner = await sleeper();
  await at.open({ self: identity(owner.pid) });
  await expect(at.open({ name: 'Luna' })).rejects.toMatchObject({
    word: 'thread-taken',
    exitCode: 10,
    message: `This thread is already open as Sol: pid ${owner.pid}. Go there, or close that peer first.`,
  });
  await at.open({ threadId: OTHER_THREAD });
});

it('is not taken from a stopped process, which may go on any time', async () => {
  using at = store();
  await using owner = await sleeper();
  const before = await at.open({ self: identity(owner.pid) });
  owner.process.kill('SIGSTOP');
  await until(() => isStopped(processState(owner.pid)!));
  await expect(at.open()).rejects.toThrow(`is stopped. Let it go on (kill -CONT ${owner.pid})`);
  owner.process.kill('SIGCONT');
  await before.record.receive(message('a'));
});

it('is taken over from a process that has ended', async () => {
  using at = store();
  await using killed = await sleeper();
  await at.open({ self: identity(killed.pid) });
  await killed.kill('SIGKILL');
  await at.open({ self: thisProcess() });
  await expect(at.open()).rejects.toMatchObject({ word: 'thread-taken' });
});

it('is taken over when another process has the pid now', async () => {
  using at = store();
  await using other = await sleeper();
  await at.open({ self: { ...identity(other.pid), procStart: '1' } });
  await at.open({ self: thisProcess() });
});

it('is never taken from a process that cannot be looked up from here', async () => {
  using at = store();
  await using ended = await child('true');
  const elsewhere = { ...identity(ended.pid), pidDomain: 'linux:another:pid:[1]' };
  await ended.kill('SIGKILL');
  await at.open({ self: elsewhere });
  await expect(at.open()).rejects.toMatchObject({
    word: 'thread-taken',
    message: expect.stringMatching(/in another container or on another machine.*peer open Sol --new/),
  });
});

it('is free again after a close', async () => {
  using at = store();
  const before = await at.open({ self: thisProcess() });
  await before.record.close();
  await at.open({ self: thisProcess(), name: 'Luna' });
});

it('a process that has lost it receives and claims nothing, and gives it back to nobody', async () => {
  using at = store();
  const { record } = await at.open();
  await advance(record, 'a', 'receive');
  const next = await at.open({ name: 'Luna', self: thisProcess() });

  const error = {
    word: 'thread-taken',
    message: `Sol does not serve its thread any more; now Luna: pid ${process.pid} does. Nothing was recorded or given to it.`,
  };
  await expect(record.receive(message('b'))).rejects.toMatchObject(error);
  await expect(record.claim('a', claim)).rejects.toMatchObject(error);
  expect(record.message('b')).toBeUndefined();
  const { unclaimed } = await next.record.restore();
  expect(unclaimed).toEqual([message('a')]);

  await record.close();
  await expect(at.open()).rejects.toThrow('already open as Luna');
  await next.record.claim('a', claim);
});

it('of two that decide the same message the second is told that it came too late', async () => {
  using at = store();
  const first = await at.open();
  await advance(first.record, 'a', 'claim');
  const second = await at.open();
  await second.record.restore();
  expect(await first.record.outcome('a', unknown)).toBe(true);
  expect(await second.record.outcome('a', unknown)).toBe(false);
  expect(await second.record.claimReply('a')).toBe(true);
  expect(await first.record.claimReply('a')).toBe(false);
});
