import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { processStart } from '../../src/os/proc.ts';
import { claimName, contend } from '../../src/registry/contend.ts';
import { liveRows } from '../../src/registry/live.ts';
import { Publication } from '../../src/registry/publish.ts';
import type { Row } from '../../src/registry/row.ts';
import { child, listen, sleeper, until } from '../os/fixtures.ts';
import { bundled } from './bundled.ts';
import { type Registry, registry, rowOf, THREAD, TOKEN, writeRow } from './fixtures.ts';

const mine = rowOf(100, { procStart: '50', state: 'opening' });

it('goes on when nobody else wants the name or the thread', () => {
  const others = [
    mine,
    rowOf(1, { name: 'Luna', procStart: '1', state: 'opening' }),
    rowOf(2, { name: 'Luna', sessionId: THREAD, messagingSocketPath: '/s' }),
    { pid: 3, name: 'Sol', procStart: '1' },
    rowOf(4, { procStart: '1', state: 'closing' }),
  ];
  expect(contend(mine, others)).toEqual({ decision: 'proceed' });
});

it('yields to one that serves, however young, and to a native session of that name', () => {
  const young = rowOf(200, { name: 'sOL', procStart: '99', messagingSocketPath: '/s' });
  const native: Row = { pid: 201, name: 'sol', procStart: '99', messagingSocketPath: '/s' };
  expect(contend(mine, [young])).toEqual({ decision: 'yield', other: young });
  expect(contend(mine, [native])).toEqual({ decision: 'yield', other: native });
});

it('yields to an older opener and waits for a younger one', () => {
  const older = rowOf(300, { procStart: '9', state: 'opening' });
  const younger = rowOf(2, { procStart: '100', state: 'opening' });
  expect(contend(mine, [younger])).toEqual({ decision: 'wait', other: younger });
  expect(contend(mine, [younger, older])).toEqual({ decision: 'yield', other: older });
  expect(contend(mine, [rowOf(99, { procStart: '50', state: 'opening' })]).decision).toBe('yield');
  expect(contend(mine, [rowOf(101, { procStart: '50', state: 'opening' })]).decision).toBe('wait');
});

it('contends for a thread whatever the names', () => {
  const thread = { ...mine, sessionId: THREAD };
  const other = rowOf(1, { name: 'Luna', procStart: '1', sessionId: THREAD, state: 'opening' });
  expect(contend(thread, [other]).decision).toBe('yield');
  expect(contend(mine, [{ ...other, sessionId: undefined }]).decision).toBe('proceed');
});

it('says where a taken name is, and leaves nothing published', async () => {
  using at = registry();
  await using other = await sleeper();
  const serving = rowOf(other.pid, { name: 'SOL', tmux: 'main:@1.%1\x1b', messagingSocketPath: '/s' });
  writeRow(at, serving);
  using me = opening(at, process.pid);
  await expect(claimName({ sessionsDir: at.sessionsDir, publication: me.publication })).rejects.toMatchObject(
    {
      word: 'name-taken',
      exitCode: 10,
      message: `Sol is already open: pid ${other.pid}, tmux main:@1.%1\\u{1b}. Go there, close it (peer close), or choose another name.`,
    },
  );
  expect(readdirSync(at.sessionsDir)).toEqual([`${other.pid}.json`]);
});

it('says under which name a taken thread is open', async () => {
  using at = registry();
  await using other = await sleeper();
  writeRow(at, rowOf(other.pid, { name: 'Luna', sessionId: THREAD, messagingSocketPath: '/s' }));
  using me = opening(at, process.pid, { sessionId: THREAD });
  await expect(claimName({ sessionsDir: at.sessionsDir, publication: me.publication })).rejects.toMatchObject(
    {
      word: 'thread-taken',
      message: expect.stringContaining(`open as Luna: pid ${other.pid}`),
    },
  );
});

it('takes no notice of the dead', async () => {
  using at = registry();
  await using other = await sleeper();
  writeRow(at, rowOf(other.pid, { procStart: '1', messagingSocketPath: '/s' }));
  using me = opening(at, process.pid);
  await claimName({ sessionsDir: at.sessionsDir, publication: me.publication });
  expect(existsSync(me.file)).toBe(true);
});

it('waits for a younger opener and goes on when that one gives up, dies, or yields when it serves', async () => {
  using at = registry();
  using me = opening(at, process.pid);
  const claim = (waited: Row[]) =>
    claimName({
      sessionsDir: at.sessionsDir,
      publication: me.publication,
      onWait: (row) => waited.push(row),
    });

  const first: Row[] = [];
  await using givesUp = await sleeper();
  using younger = opening(at, givesUp.pid);
  const firstClaim = claim(first);
  await until(() => first.length === 1);
  await delay(150);
  younger.publication.withdrawKey();
  await firstClaim;
  expect(first.map((row) => row.pid)).toEqual([givesUp.pid]);

  const second: Row[] = [];
  await using dies = await sleeper();
  writeRow(at, rowOf(dies.pid, { state: 'opening' }));
  const secondClaim = claim(second);
  await until(() => second.length === 1);
  await dies.kill('SIGKILL');
  await secondClaim;

  const third: Row[] = [];
  await using serves = await sleeper();
  writeRow(at, rowOf(serves.pid, { state: 'opening' }));
  const thirdClaim = expect(claim(third)).rejects.toMatchObject({ word: 'name-taken' });
  await until(() => third.length === 1);
  await using _listener = await listen(join(at.socketDir, 's'));
  writeRow(at, rowOf(serves.pid, { state: 'serving', messagingSocketPath: join(at.socketDir, 's') }));
  await thirdClaim;
});

it('ends its wait when it is told to', async () => {
  using at = registry();
  await using other = await sleeper();
  using me = opening(at, process.pid);
  using _younger = opening(at, other.pid);
  const signal = AbortSignal.timeout(50);
  const claim = claimName({ sessionsDir: at.sessionsDir, publication: me.publication, signal });
  await expect(claim).rejects.toThrow(/timeout/);
});

it('leaves one of six real processes that open a name at the same moment', { timeout: 30_000 }, async () => {
  const program = await bundled(`
    import { pidDomain, processStart } from '../../src/os/proc.ts';
    import { claimName } from '../../src/registry/contend.ts';
    import { Publication } from '../../src/registry/publish.ts';
    import { BRIDGE } from '../../src/registry/row.ts';
    const at = JSON.parse(process.argv[1]);
    const { pid } = process;
    setTimeout(open, Number(process.argv[2]) - Date.now());
    async function open() {
      const own = { pid, name: 'Sol', procStart: processStart(pid), pidDomain: pidDomain(), bridge: BRIDGE };
      const publication = Publication.open({ places: at, row: { ...own, state: 'opening' }, token: '${TOKEN}' });
      try {
        await claimName({ sessionsDir: at.sessionsDir, publication });
        await new Promise((resolve) => setTimeout(resolve, pid % 3 * 40));
        publication.update({ state: 'serving', messagingSocketPath: '/s' });
        console.log('won');
        setTimeout(() => {}, 60_000);
      } catch (error) {
        console.log(error.word);
      }
    }`);
  for (let round = 0; round < 3; round += 1) {
    using at = registry();
    const startAt = String(Date.now() + 700);
    const arguments_ = ['-e', program, JSON.stringify(at), startAt];
    const all = await Promise.all(Array.from({ length: 6 }, () => child(process.execPath, ...arguments_)));
    try {
      const said = await Promise.all(
        all.map(async (each) => String(await once(each.process.stdout!, 'data')).trim()),
      );
      expect(said.sort()).toEqual([...Array(5).fill('name-taken'), 'won']);
      expect(await liveRows(at.sessionsDir)).toMatchObject([{ name: 'Sol', state: 'serving' }]);
    } finally {
      await Promise.all(all.map((each) => each[Symbol.asyncDispose]()));
    }
  }
});

function opening(at: Registry, pid: number, fields: Partial<Row> = {}) {
  const row = rowOf(pid, { procStart: processStart(pid)!, state: 'opening', ...fields });
  const publication = Publication.open({ places: at, row, token: TOKEN });
  const file = join(at.sessionsDir, `${pid}.json`);
  return { publication, file, [Symbol.dispose]: () => publication.withdrawKey() };
}
