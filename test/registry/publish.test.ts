import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { keyFile, readToken } from '../../src/registry/key.ts';
import { readRows } from '../../src/registry/live.ts';
import { socketPath } from '../../src/registry/places.ts';
import { Publication, type PublicationOptions } from '../../src/registry/publish.ts';
import type { Row } from '../../src/registry/row.ts';
import { child, until } from '../os/fixtures.ts';
import { bundled } from './bundled.ts';
import { type Registry, registry, rowOf, TOKEN } from './fixtures.ts';

const PID = process.pid;

it('publishes the row as given and a key for its socket, for us alone', () => {
  using at = registry();
  using published = publish(at, { status: 'idle', model: 'gpt-5' });
  expect(published.row()).toEqual(rowOf(PID, { status: 'idle', model: 'gpt-5' }));
  expect(readToken(at.sessionsDir, socketPath(at, PID))).toBe(TOKEN);
  expect(readdirSync(at.sessionsDir)).toHaveLength(2);
  for (const file of readdirSync(at.sessionsDir)) expect(mode(join(at.sessionsDir, file))).toBe(0o600);
});

it('makes the key for the socket the row names', () => {
  using at = registry();
  using _published = publish(at, { messagingSocketPath: '/elsewhere/x.sock' });
  expect(readToken(at.sessionsDir, '/elsewhere/x.sock')).toBe(TOKEN);
});

it('creates the folder, and refuses one others can write in', () => {
  using at = registry();
  rmSync(at.sessionsDir, { recursive: true });
  using _published = publish(at);
  expect(mode(at.sessionsDir)).toBe(0o700);
  chmodSync(at.sessionsDir, 0o777);
  expect(() => publish(at)).toThrow(expect.objectContaining({ word: 'unsafe-folder' }));
  chmodSync(at.sessionsDir, 0o700);
});

it('changes fields in order, and says when, and when the status changed', async () => {
  using at = registry();
  using published = publish(at, { status: 'idle' });
  published.publication.update({ status: 'busy' });
  const busy = published.row();
  expect(busy).toMatchObject({
    status: 'busy',
    updatedAt: expect.any(Number),
    statusUpdatedAt: busy.updatedAt,
  });
  await delay(3);
  published.publication.update({ status: 'busy', model: 'gpt-5' });
  published.publication.update({ model: 'gpt-6' });
  const renamed = published.row();
  expect(renamed).toMatchObject({ status: 'busy', model: 'gpt-6', statusUpdatedAt: busy.statusUpdatedAt });
  expect(renamed.updatedAt).toBeGreaterThan(busy.updatedAt!);
  expect(published.publication.row).toEqual(renamed);
});

it('removes a field that is set to undefined', () => {
  using at = registry();
  using published = publish(at, { status: 'waiting', waitingFor: 'daemon restart' });
  published.publication.update({ status: 'idle', waitingFor: undefined });
  expect(published.row()).not.toHaveProperty('waitingFor');
});

it('writes nothing when nothing differs', () => {
  using at = registry();
  using published = publish(at, { status: 'idle', peerFeatures: ['notify_idle'] });
  const before = statSync(published.file, { bigint: true });
  published.publication.update({ status: 'idle', peerFeatures: ['notify_idle'] });
  const after = statSync(published.file, { bigint: true });
  expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
});

it('is never seen torn while it changes', async () => {
  using at = registry();
  using published = publish(at);
  for (let n = 0; n < 100; n += 1) {
    published.publication.update({ status: n % 2 ? 'busy' : 'idle', waitingFor: 'x'.repeat(n * 50) });
    expect(await readRows(at.sessionsDir)).toHaveLength(1);
  }
});

it('writes row and key again when somebody deletes them', async () => {
  using at = registry();
  using published = publish(at, { status: 'idle' });
  published.publication.update({ status: 'busy' });
  rmSync(published.file);
  await until(() => existsSync(published.file));
  expect(published.row().status).toBe('busy');
  rmSync(published.key);
  await until(() => existsSync(published.key));
  expect(readToken(at.sessionsDir, socketPath(at, PID))).toBe(TOKEN);
});

it('writes row and key again when somebody changes them, torn, empty or as somebody else', async () => {
  using at = registry();
  using published = publish(at, { status: 'idle' });
  const [row, key] = [readFileSync(published.file, 'utf8'), readFileSync(published.key, 'utf8')];
  for (const text of ['', row.slice(0, 40), JSON.stringify({ ...published.row(), name: 'Luna' })]) {
    writeFileSync(published.file, text);
    writeFileSync(published.key, text);
    await until(() => readFileSync(published.file, 'utf8') === row);
    await until(() => readFileSync(published.key, 'utf8') === key);
  }
  published.publication.update({ status: 'busy' });
  await delay(100);
  expect(published.row().status).toBe('busy');
});

it('writes row and key again when somebody puts a fifo or a link to a device in their place', async () => {
  using at = registry();
  using published = publish(at);
  const isWritten = (file: string) => lstatSync(file).isFile() && statSync(file).size > 0;
  for (const file of [published.file, published.key]) {
    rmSync(file);
    execFileSync('mkfifo', [file]);
    await until(() => isWritten(file));
    rmSync(file);
    symlinkSync('/dev/zero', file);
    await until(() => isWritten(file));
  }
});

it('comes back when the whole folder is deleted, more than once', async () => {
  using at = registry();
  using published = publish(at);
  for (let n = 0; n < 2; n += 1) {
    rmSync(at.sessionsDir, { recursive: true });
    await until(() => existsSync(published.file) && existsSync(published.key));
    await delay(80);
  }
  rmSync(published.file);
  await until(() => existsSync(published.file));
  expect(published.problems).toEqual([]);
});

it('withdraws the row first and the key last', () => {
  using at = registry();
  using published = publish(at);
  published.publication.withdrawRow();
  expect([existsSync(published.file), existsSync(published.key)]).toEqual([false, true]);
  published.publication.withdrawKey();
  published.publication.withdrawKey();
  expect(readdirSync(at.sessionsDir)).toEqual([]);
});

it('stays away once it is withdrawn, whatever is changed or seen after', async () => {
  using at = registry();
  using published = publish(at);
  await delay(100);
  // Seen by the watch, which looks a moment later.
  writeFileSync(join(at.sessionsDir, 'other'), '');
  await delay(20);
  published.publication.withdrawRow();
  published.publication.update({ status: 'busy' });
  await delay(150);
  expect([existsSync(published.file), existsSync(published.key)]).toEqual([false, true]);
});

it('withdraws both when only the key is asked for', () => {
  using at = registry();
  using published = publish(at);
  published.publication.withdrawKey();
  expect(readdirSync(at.sessionsDir)).toEqual([]);
});

it('tells of a write that fails, goes on, and is there again when the cause is gone', async () => {
  using at = registry();
  using published = publish(at);
  rmSync(at.sessionsDir, { recursive: true });
  writeFileSync(at.sessionsDir, 'in the way');
  published.publication.update({ status: 'busy' });
  await until(() => published.problems.length >= 2);
  rmSync(at.sessionsDir);
  mkdirSync(at.sessionsDir, { mode: 0o700 });
  await until(() => existsSync(published.file));
  expect(published.row().status).toBe('busy');
});

it.each([
  ['', ''],
  [
    ' when its folder is gone',
    'rmSync(at.sessionsDir, { recursive: true }); writeFileSync(at.sessionsDir, "");',
  ],
])('keeps no process alive%s', async (_, code) => {
  using at = registry();
  const program = `
    import { rmSync, writeFileSync } from 'node:fs';
    import { Publication } from '${join(import.meta.dirname, '../../src/registry/publish.ts')}';
    const at = ${JSON.stringify(at)};
    Publication.open({ places: at, row: ${JSON.stringify(rowOf(PID))}, token: '${TOKEN}' });
    ${code}
    setTimeout(() => {}, 150);`;
  await using other = await child(process.execPath, '-e', await bundled(program));
  await until(() => other.process.exitCode !== null);
  expect(other.process.exitCode).toBe(0);
});

function publish(at: Registry, fields: Partial<Row> = {}) {
  const problems: unknown[] = [];
  const row = rowOf(PID, fields);
  const options: PublicationOptions = {
    places: at,
    row,
    token: TOKEN,
    onProblem: (error) => problems.push(error),
  };
  const publication = Publication.open(options);
  const file = join(at.sessionsDir, `${PID}.json`);
  return {
    publication,
    problems,
    file,
    key: keyFile(at.sessionsDir, PID, row.messagingSocketPath ?? socketPath(at, PID)),
    row: (): Row => JSON.parse(readFileSync(file, 'utf8')),
    [Symbol.dispose]: () => publication.withdrawKey(),
  };
}

function mode(path: string): number {
  return statSync(path).mode & 0o777;
}
