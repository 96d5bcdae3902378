import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pidDomain, processState } from '../../src/os/proc.ts';
import { isReachable, liveRows, readRows } from '../../src/registry/live.ts';
import { child, deadPid, deadSocket, listen, sleeper, tempFolder, until } from '../os/fixtures.ts';
import { registry, rowOf, writeRow, writeRowText } from './fixtures.ts';

describe('reading rows', () => {
  it('finds none where there is no folder', async () => {
    using folder = tempFolder();
    expect(await readRows(join(folder.path, 'missing'))).toEqual([]);
  });

  it.each(['file', 'file/below', 'loop'])(
    'says what it means when %s is in place of the folder',
    async (path) => {
      using folder = tempFolder();
      writeFileSync(join(folder.path, 'file'), '');
      symlinkSync('loop', join(folder.path, 'loop'));
      await expect(readRows(join(folder.path, path))).rejects.toMatchObject({
        word: 'folder-unreadable',
        exitCode: 8,
        message: expect.stringContaining('nothing was sent'),
      });
    },
  );

  it('reads rows by the names Claude gives them, and no other file', async () => {
    using at = registry();
    writeRow(at, rowOf(12));
    writeRow(at, rowOf(2));
    for (const name of [
      '012.json',
      '12.json.tmp',
      '.12.json.1.1.tmp',
      'x.json',
      '0.json',
      '12345678901.json',
      '3.key',
    ]) {
      writeFileSync(join(at.sessionsDir, name), JSON.stringify(rowOf(99)));
    }
    expect((await readRows(at.sessionsDir)).map((row) => row.pid)).toEqual([2, 12]);
  });

  it('leaves out what is no row: a folder, a fifo, a dangling link, a huge file, garbage', async () => {
    using at = registry();
    mkdirSync(join(at.sessionsDir, '3.json'));
    execFileSync('mkfifo', [join(at.sessionsDir, '4.json')]);
    symlinkSync('missing', join(at.sessionsDir, '5.json'));
    writeRowText(at, 6, JSON.stringify({ name: 'x'.repeat(1_000_000) }));
    writeRowText(at, 7, '{"name":');
    writeRow(at, rowOf(8));
    expect((await readRows(at.sessionsDir)).map((row) => row.pid)).toEqual([8]);
  });

  it('reads a torn row again, since Claude writes in place', async () => {
    using at = registry();
    const text = JSON.stringify(rowOf(8));
    const file = writeRowText(at, 8, text.slice(0, 40));
    const reading = readRows(at.sessionsDir);
    writeFileSync(file, text);
    expect(await reading).toHaveLength(1);
  });

  it('meets a row whole while another process rewrites it in place', async () => {
    using at = registry();
    const file = writeRow(at, rowOf(8, { status: 'idle' }));
    const code = `
      const { openSync, writeSync, ftruncateSync } = require('node:fs');
      const fd = openSync(process.argv[1], 'r+');
      const row = JSON.parse(process.argv[2]);
      console.log('up');
      for (let n = 0; n < 10_000; n += 1) {
        const text = JSON.stringify({ ...row, status: n % 2 ? 'busy' : 'waiting', filler: 'x'.repeat(n % 500) });
        writeSync(fd, text.slice(0, 200), 0);
        writeSync(fd, text.slice(200), 200);
        ftruncateSync(fd, text.length);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }`;
    await using writer = await child(process.execPath, '-e', code, file, readFileSync(file, 'utf8'));
    await once(writer.process.stdout!, 'data');
    for (let n = 0; n < 200; n += 1) expect(await readRows(at.sessionsDir)).toHaveLength(1);
  });

  it('reads what is left of a longer row after the shorter one is whole', async () => {
    using at = registry();
    const file = writeRow(at, rowOf(8, { cwd: '/a/long/path' }));
    const shorter = JSON.stringify(rowOf(8));
    const fd = openSync(file, 'r+');
    writeSync(fd, shorter, 0);
    const reading = readRows(at.sessionsDir);
    ftruncateSync(fd, shorter.length);
    expect(await reading).toEqual([rowOf(8)]);
  });
});

describe('live rows', () => {
  it('are those whose process lives and started when the row says', async () => {
    using at = registry();
    await using other = await sleeper();
    await using reused = await sleeper();
    writeRow(at, rowOf(other.pid));
    writeRow(at, rowOf(reused.pid, { procStart: '1' }));
    writeRow(at, rowOf(await deadPid()));
    expect((await liveRows(at.sessionsDir)).map((row) => row.pid)).toEqual([other.pid]);
  });

  it('include one without a start time, as long as its pid lives', async () => {
    using at = registry();
    await using other = await sleeper();
    writeRowText(at, other.pid, '{"name":"bare"}');
    writeRowText(at, await deadPid(), '{"name":"dead"}');
    expect((await liveRows(at.sessionsDir)).map((row) => row.name)).toEqual(['bare']);
  });

  it('of another pid domain are judged by their socket alone', async () => {
    using at = registry();
    await using other = await sleeper();
    const socket = join(at.socketDir, 's');
    await using _listener = await listen(socket);
    const foreign = { pidDomain: 'linux:elsewhere:pid:[1]' };
    writeRow(at, rowOf(await deadPid(), { ...foreign, name: 'container', messagingSocketPath: socket }));
    writeRow(at, rowOf(other.pid, { ...foreign, name: 'lookalike' }));
    expect((await liveRows(at.sessionsDir)).map((row) => row.name)).toEqual(['container']);
  });
});

describe('a peer', () => {
  it('is reachable while its socket accepts', async () => {
    using at = registry();
    const path = join(at.socketDir, 's');
    const row = rowOf(process.pid, { messagingSocketPath: path });
    expect(await isReachable(row)).toBe(false);
    await using listener = await listen(path);
    expect(await isReachable(row)).toBe(true);
    await until(() => listener.received.length === 1);
    expect(listener.received).toEqual(['']);
  });

  it('is not reachable without a socket, on a dead one, or on a path no socket can have', async () => {
    using at = registry();
    const path = join(at.socketDir, 's');
    await deadSocket(path);
    expect(await isReachable(rowOf(process.pid))).toBe(false);
    expect(await isReachable(rowOf(process.pid, { messagingSocketPath: path }))).toBe(false);
    expect(await isReachable(rowOf(process.pid, { messagingSocketPath: `/tmp/${'x'.repeat(200)}` }))).toBe(
      false,
    );
    expect(await isReachable(rowOf(process.pid, { messagingSocketPath: 'a\0b' }))).toBe(false);
  });

  it('is not reachable while its process is stopped, although the kernel accepts for it', async () => {
    using at = registry();
    const path = join(at.socketDir, 's');
    const code = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'));
      setTimeout(process.exit, 60_000)`;
    await using owner = await child(process.execPath, '-e', code);
    await once(owner.process.stdout!, 'data');
    const row = rowOf(owner.pid, { messagingSocketPath: path, pidDomain: pidDomain() });
    expect(await isReachable(row)).toBe(true);
    owner.process.kill('SIGSTOP');
    await until(() => processState(owner.pid) === 'T');
    expect(await isReachable(row)).toBe(false);
    owner.process.kill('SIGCONT');
    await until(() => processState(owner.pid) !== 'T');
    expect(await isReachable(row)).toBe(true);
  });

  it('is not reachable when its process is gone, whoever has its socket', async () => {
    using at = registry();
    const path = join(at.socketDir, 's');
    await using _listener = await listen(path);
    expect(await isReachable(rowOf(await deadPid(), { messagingSocketPath: path }))).toBe(false);
  });
});
