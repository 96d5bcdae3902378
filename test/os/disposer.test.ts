import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Disposer } from '../../src/os/disposer.ts';

it('runs what was deferred last first, each after the one before has ended', async () => {
  const done: string[] = [];
  const disposer = new Disposer();
  disposer.defer('socket', () => done.push('socket'));
  disposer.defer('key', async () => {
    await delay(10);
    done.push('key');
  });
  disposer.defer('row', () => done.push('row'));
  expect(await disposer.run()).toEqual([]);
  expect(done).toEqual(['row', 'key', 'socket']);
});

it('completes all steps and names those that failed', async () => {
  const done: string[] = [];
  const disposer = new Disposer();
  disposer.defer('socket', () => done.push('socket'));
  disposer.defer('key', () => Promise.reject(new Error('no space')));
  disposer.defer('row', () => {
    throw new Error('gone');
  });
  const errors = await disposer.run();
  expect(errors.map((error) => error.message)).toEqual(['row: gone', 'key: no space']);
  expect(done).toEqual(['socket']);
});

it('goes on after a step that hangs', async () => {
  const done: string[] = [];
  const disposer = new Disposer();
  disposer.defer('socket', () => done.push('socket'));
  disposer.defer('daemon', () => new Promise(() => {}), 20);
  const errors = await disposer.run();
  expect(errors.map((error) => error.message)).toEqual(['daemon: not done after 20 ms']);
  expect(done).toEqual(['socket']);
});

it('runs each step once, however often it is asked', async () => {
  let times = 0;
  const disposer = new Disposer();
  disposer.defer('row', async () => {
    times += 1;
    await delay(5);
    throw new Error('gone');
  });
  const [first, second] = await Promise.all([disposer.run(), disposer.run()]);
  expect([first, second, await disposer.run()].map((errors) => errors.length)).toEqual([1, 1, 1]);
  expect(times).toBe(1);
});

it('runs a step that comes while it cleans up, and one that comes after', async () => {
  const done: string[] = [];
  const disposer = new Disposer();
  disposer.defer('socket', () => done.push('socket'));
  disposer.defer('row', () => {
    done.push('row');
    disposer.defer('late', () => done.push('late'));
  });
  await disposer.run();
  disposer.defer('after', () => done.push('after'));
  await disposer.run();
  expect(done).toEqual(['row', 'late', 'socket', 'after']);
});
