import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { isStopped, processState } from '../../src/os/proc.ts';
import { thisProcess } from '../../src/store/lease.ts';
import { type Child, child, until } from '../os/fixtures.ts';
import { bundled } from '../registry/bundled.ts';
import { type Store, store, THREAD } from './fixtures.ts';
import type { Task } from './peer-driver.ts';
import { advance, STEPS, type Step } from './steps.ts';

interface Peer extends Child {
  readonly lines: string[];
  /** The next line it says. */
  said(): Promise<string>;
}

type Order = Task extends infer Each
  ? Each extends Task
    ? Omit<Each, 'stateDir' | 'threadId'>
    : never
  : never;

/** A process with the store open; `cwd` is where it looks for packages. */
async function peer(at: Store, order: Order, { threadId = THREAD, cwd = '.' } = {}): Promise<Peer> {
  const script = await bundled(`import '../store/peer-driver.ts'`);
  const task = JSON.stringify({ stateDir: at.dir, threadId, ...order });
  const started = await child('env', '-C', cwd, process.execPath, '-e', script, task);
  const lines: string[] = [];
  const reader = createInterface(started.process.stdout!).on('line', (line) => lines.push(line));
  const ended = once(reader, 'close').then(() => {
    throw new Error(`it ended after: ${lines.slice(-3)}`);
  });
  ended.catch(() => {});
  let read = 0;
  const said = async () => {
    while (lines.length <= read) await Promise.race([once(reader, 'line'), ended]);
    return lines[read++]!;
  };
  return { ...started, lines, said };
}

/** Several at once, one thread each unless they are told to share one. */
async function several(at: Store, count: number, order: Order, threadOf: (index: number) => string) {
  const peers = await Promise.all(
    Array.from({ length: count }, (_, index) => peer(at, order, { threadId: threadOf(index) })),
  );
  const end = async () => {
    for (const each of peers) await each[Symbol.asyncDispose]();
  };
  return { peers, [Symbol.asyncDispose]: end };
}

it.each<Step>([...STEPS])('a process that is killed after "%s" leaves the same as a crash', async (last) => {
  using at = store();
  using like = store();
  await using killed = await peer(at, { do: 'hold', id: 'a', last });
  expect(await killed.said()).toBe('done');
  await expect(at.open({ self: thisProcess() })).rejects.toThrow(`already open as Sol: pid ${killed.pid}`);
  await killed.kill('SIGKILL');

  const crashed = await like.open();
  await advance(crashed.record, 'a', last);
  crashed.crash();
  const [after, expected] = [await at.open({ self: thisProcess() }), await like.open()];
  expect(await after.record.restore()).toEqual(await expected.record.restore());
});

it('a process that is killed while it writes has recorded all that it said it had', async () => {
  using at = store();
  for (const round of [0, 1, 2]) {
    await using killed = await peer(at, { do: 'flood' }, { threadId: `thread ${round}` });
    await killed.said();
    await delay(20 + 30 * Math.random());
    await killed.kill('SIGKILL');

    const { record } = await at.open({ threadId: `thread ${round}`, self: thisProcess() });
    const { unclaimed, claimed, untold, halfTold } = await record.restore();
    const open = [...unclaimed, ...[...claimed, ...untold, ...halfTold].map((each) => each.message)];
    const openIds = new Set(open.map(({ id }) => id));
    for (const line of killed.lines) {
      const [id, step] = line.split(' ') as [string, Step];
      expect(openIds.has(id)).toBe(STEPS.indexOf(step) < STEPS.indexOf('note'));
    }
    expect(at.raw((db) => db.pragma('integrity_check', { simple: true }))).toBe('ok');
  }
});

it('forty peers in eight processes write at once, and none fails or loses a message', async () => {
  using at = store();
  const order = { do: 'write', writers: 5, messages: 10 } as const;
  await using group = await several(at, 8, order, (index) => `thread ${index}`);
  const { peers } = group;
  for (const each of peers) expect(await each.said()).toBe('ready');
  for (const each of peers) each.process.kill('SIGUSR2');
  for (const each of peers) expect(await each.said()).toBe('done');
  const rows = at.raw((db) =>
    db.prepare('SELECT thread_id, count(*) AS count FROM message GROUP BY thread_id').all(),
  );
  expect(rows).toHaveLength(40);
  expect(rows).toEqual(rows.map((row) => ({ ...(row as object), count: 10 })));
});

it('of several that open one thread at once, one gets it', async () => {
  using at = store();
  await using group = await several(at, 5, { do: 'open' }, () => THREAD);
  const said = await Promise.all(group.peers.map((each) => each.said()));
  expect(said.sort()).toEqual(['store', ...Array<string>(4).fill('thread-taken')]);
});

it('a stopped process keeps its thread, and writes on when it is continued', async () => {
  using at = store();
  await using stopped = await peer(at, { do: 'hold', id: 'a', last: 'claim' });
  await stopped.said();
  stopped.process.kill('SIGSTOP');
  await until(() => isStopped(processState(stopped.pid)!));
  await expect(at.open({ self: thisProcess() })).rejects.toThrow('stopped');
  await stopped.kill('SIGKILL');
  await at.open({ self: thisProcess() });
});

it('a process without better-sqlite3 says so', async () => {
  using at = store();
  const cwd = join(at.dir, '..');
  await using without = await peer(at, { do: 'open' }, { cwd });
  expect(await without.said()).toMatch(/^better-sqlite3 cannot be loaded \(Cannot find package .*\)$/);
  const broken = join(cwd, 'node_modules', 'better-sqlite3');
  mkdirSync(broken, { recursive: true });
  writeFileSync(
    join(broken, 'index.js'),
    `module.exports = function () { throw new Error('no binding\\ntried …'); }`,
  );
  await using unbuilt = await peer(at, { do: 'open' }, { cwd });
  expect(await unbuilt.said()).toBe('better-sqlite3 cannot be loaded (no binding)');
});

it('a process that may not write where the store is, or would be, says so', async () => {
  using at = store();
  const isRoot = process.getuid!() === 0;
  const uid = isRoot ? 65_534 : process.getuid!();
  const order = { do: 'open', ...(isRoot ? { uid } : {}) } as const;
  const give = (owner: number, mode: number) => {
    chmodSync(at.dir, mode);
    chownSync(at.dir, owner, -1);
  };
  mkdirSync(at.dir);
  chmodSync(join(at.dir, '..'), 0o755);
  give(uid, 0o500);
  await using first = await peer(at, order);
  expect(await first.said()).toBe('it cannot be written');

  give(process.getuid!(), 0o700);
  await (await at.open()).record.close();
  chownSync(at.file, uid, -1);
  give(uid, 0o500);
  await using second = await peer(at, order);
  expect(await second.said()).toBe('it cannot be written');
  give(process.getuid!(), 0o700);
});
