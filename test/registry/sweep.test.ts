import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keyFile } from '../../src/registry/key.ts';
import { socketPath } from '../../src/registry/places.ts';
import type { Row } from '../../src/registry/row.ts';
import { sweep } from '../../src/registry/sweep.ts';
import { child, deadPid, deadSocket, listen, sleeper, zombie } from '../os/fixtures.ts';
import { bundled } from './bundled.ts';
import { type Registry, registry, rowOf, TOKEN, writeRow } from './fixtures.ts';

it('removes row, key and socket of a wrapper of ours that was killed', async () => {
  using at = registry();
  const pid = await killedWrapper(at);
  expect(filesOf(at)).toHaveLength(3);
  expect(await sweep(at.sessionsDir)).toEqual([pid]);
  expect(filesOf(at)).toEqual([]);
});

it('removes those of a wrapper whose pid is another process now', async () => {
  using at = registry();
  await using other = await sleeper();
  const row = rowOf(other.pid, { procStart: '1', messagingSocketPath: socketPath(at, other.pid) });
  leaveBehind(at, row);
  expect(await sweep(at.sessionsDir)).toEqual([other.pid]);
  expect(filesOf(at)).toEqual([]);
});

it('leaves the socket to the process that has the pid, and listens, now', async () => {
  using at = registry();
  await using other = await sleeper();
  const socket = socketPath(at, other.pid);
  await using _listener = await listen(socket);
  leaveBehind(at, rowOf(other.pid, { procStart: '1', messagingSocketPath: socket }));
  await sweep(at.sessionsDir);
  expect(filesOf(at)).toEqual([`${other.pid}.sock`]);
});

it('removes what a wrapper left that was killed before it served', async () => {
  using at = registry();
  const pid = await killedWrapper(at, { state: 'opening' });
  expect(await sweep(at.sessionsDir)).toEqual([pid]);
  expect(filesOf(at)).toEqual([]);
});

it('removes key and socket of a wrapper that was killed after its row was withdrawn', async () => {
  using at = registry();
  const pid = await killedWrapper(at, {}, true);
  expect(filesOf(at)).toHaveLength(2);
  expect(await sweep(at.sessionsDir)).toEqual([pid]);
  expect(filesOf(at)).toEqual([]);
});

it('removes those of a zombie', async () => {
  using at = registry();
  await using ended = await zombie();
  writeRow(at, rowOf(ended.pid));
  expect(await sweep(at.sessionsDir)).toEqual([ended.pid]);
});

it.each<[string, Partial<Row>]>([
  ['without our marker', { bridge: undefined }],
  ['with another marker', { bridge: 'other' }],
  ['of another pid domain', { pidDomain: 'linux:elsewhere:pid:[1]' }],
  ['without a pid domain', { pidDomain: undefined }],
  ['without a start time', { procStart: undefined }],
])('leaves a dead row %s alone', async (_, fields) => {
  using at = registry();
  leaveBehind(at, rowOf(await deadPid(), fields));
  const before = filesOf(at);
  expect(await sweep(at.sessionsDir)).toEqual([]);
  expect(filesOf(at)).toEqual(before);
});

it('leaves a living wrapper alone', async () => {
  using at = registry();
  await using other = await sleeper();
  leaveBehind(at, rowOf(other.pid));
  const before = filesOf(at);
  expect(await sweep(at.sessionsDir)).toEqual([]);
  expect(filesOf(at)).toEqual(before);
});

it('removes no file that is no socket of that pid, whatever a row says', async () => {
  using at = registry();
  const pid = await deadPid();
  const precious = join(at.configDir, `${pid}.sock`);
  writeFileSync(precious, 'precious');
  const link = join(at.socketDir, `${pid}.sock`);
  await deadSocket(join(at.socketDir, '1.sock'));
  symlinkSync('1.sock', link);
  for (const path of [precious, join(at.socketDir, '1.sock'), link]) {
    writeRow(at, rowOf(pid, { procStart: '1', messagingSocketPath: path }));
    expect(await sweep(at.sessionsDir)).toEqual([pid]);
  }
  expect(readdirSync(at.socketDir).sort()).toEqual(['1.sock', `${pid}.sock`].sort());
  expect(readdirSync(at.configDir)).toContain(`${pid}.sock`);
});

it('goes on past garbage, and finds nothing where there is no folder', async () => {
  using at = registry();
  writeFileSync(join(at.sessionsDir, '7.json'), '{"bridge":');
  mkdirSync(join(at.sessionsDir, '8.json'));
  execFileSync('mkfifo', [join(at.sessionsDir, '9.json')]);
  symlinkSync('/dev/zero', join(at.sessionsDir, '10.json'));
  const pid = await deadPid();
  writeRow(at, rowOf(pid));
  expect(await sweep(at.sessionsDir)).toEqual([pid]);
  expect(await sweep(join(at.sessionsDir, 'missing'))).toEqual([]);
  expect(await sweep(join(at.sessionsDir, '7.json'))).toEqual([]);
});

/** A real process that publishes row and key and listens, as a wrapper does, and is killed. */
async function killedWrapper(
  at: Registry,
  fields: Partial<Row> = {},
  isRowWithdrawn = false,
): Promise<number> {
  const program = `
    import { createServer } from 'node:net';
    import { pidDomain, processStart } from '../../src/os/proc.ts';
    import { socketPath } from '../../src/registry/places.ts';
    import { Publication } from '../../src/registry/publish.ts';
    import { BRIDGE } from '../../src/registry/row.ts';
    const { at, fields, token, isRowWithdrawn } = JSON.parse(process.argv[1]);
    const { pid } = process;
    const socket = socketPath(at, pid);
    const own = { pid, name: 'Sol', procStart: processStart(pid), pidDomain: pidDomain(), bridge: BRIDGE };
    const row = { ...own, ...(fields.state !== 'opening' && { messagingSocketPath: socket }), ...fields };
    const publication = Publication.open({ places: at, row, token });
    if (isRowWithdrawn) publication.withdrawRow();
    createServer().listen(socket, () => console.log('up'));
    setTimeout(process.exit, 60_000);`;
  const argument = JSON.stringify({ at, fields, token: TOKEN, isRowWithdrawn });
  await using wrapper = await child(process.execPath, '-e', await bundled(program), argument);
  await once(wrapper.process.stdout!, 'data');
  return wrapper.pid;
}

function leaveBehind(at: Registry, row: Row): void {
  writeRow(at, row);
  const key = { peerToken: TOKEN, bridge: row.bridge, pidDomain: row.pidDomain, procStart: row.procStart };
  writeFileSync(keyFile(at.sessionsDir, row.pid, socketPath(at, row.pid)), JSON.stringify(key));
}

function filesOf(at: Registry): string[] {
  return [...readdirSync(at.sessionsDir), ...readdirSync(at.socketDir)].sort();
}
