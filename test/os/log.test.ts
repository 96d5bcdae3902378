import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { openLog } from '../../src/os/log.ts';
import { tempFolder } from './fixtures.ts';

const TOKEN = '0123456789abcdef0123456789abcdef';

it('writes one JSON object a line, in order, for us alone', async () => {
  using folder = tempFolder();
  const file = join(folder.path, 'sol.log');
  const log = openLog(file);
  log.write('opened', { name: 'Sol', pid: 42 });
  log.write('closed');
  await log.close();
  expect(lines(file)).toEqual([
    { at: expect.stringMatching(/^\d{4}-.*Z$/), event: 'opened', name: 'Sol', pid: 42 },
    { at: expect.any(String), event: 'closed' },
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('keeps what an earlier process wrote', async () => {
  using folder = tempFolder();
  const file = join(folder.path, 'sol.log');
  for (const event of ['first', 'second']) {
    const log = openLog(file);
    log.write(event);
    await log.close();
  }
  expect(lines(file).map((line) => line.event)).toEqual(['first', 'second']);
});

it('does not write on the spot, so a terminal never waits for the disk', async () => {
  using folder = tempFolder();
  const file = join(folder.path, 'sol.log');
  const log = openLog(file);
  log.write('opened');
  expect(() => statSync(file)).toThrow('ENOENT');
  await log.close();
  expect(lines(file)).toHaveLength(1);
});

it('keeps two files of the limit and no more', async () => {
  using folder = tempFolder();
  const file = join(folder.path, 'sol.log');
  const log = openLog(file, 2_000);
  for (let n = 0; n < 300; n += 1) log.write('line', { n });
  await log.close();
  expect(statSync(file).size).toBeLessThanOrEqual(2_000);
  expect(statSync(`${file}.1`).size).toBeLessThanOrEqual(2_000);
  const numbers = [...lines(`${file}.1`), ...lines(file)].map((line) => line.n);
  expect(numbers.at(-1)).toBe(299);
  expect(numbers).toEqual(numbers.map((_, index) => 300 - numbers.length + index));
});

it('turns over the file of an earlier process too', async () => {
  using folder = tempFolder();
  const file = join(folder.path, 'sol.log');
  for (const event of ['first', 'second']) {
    const log = openLog(file, 100);
    log.write(event, { filler: 'x'.repeat(20) });
    await log.close();
  }
  expect(lines(`${file}.1`).map((line) => line.event)).toEqual(['first']);
  expect(lines(file).map((line) => line.event)).toEqual(['second']);
});

it('lets no token and no secret into the file, wherever they stand', async () => {
  using folder = tempFolder();
  const file = join(folder.path, 'sol.log');
  const log = openLog(file);
  log.hide('sk-secret"quoted');
  log.hide('');
  const frame = `{"type":"auth","token":"${TOKEN}"}`;
  log.write('frame', {
    frame,
    nested: { list: [TOKEN.toUpperCase()] },
    [TOKEN]: 1,
    key: 'use sk-secret"quoted now',
  });
  log.write('failed', { error: new Error(`bad ${TOKEN}`, { cause: new Error(`also ${TOKEN}`) }) });
  log.write(`event ${TOKEN}`, { long: `${'x'.repeat(LIMITS.logString - 10)}${TOKEN}` });
  await log.close();
  const text = readFileSync(file, 'utf8');
  expect(text.toLowerCase()).not.toContain(TOKEN.slice(0, 10));
  expect(text).not.toContain('sk-secret');
  expect(lines(file)).toHaveLength(3);
});

it('keeps longer hashes and UUIDs, which are no tokens', async () => {
  using folder = tempFolder();
  const file = join(folder.path, 'sol.log');
  const fields = { hash: TOKEN + TOKEN, id: '0b9c7a52-1111-4222-8333-944455566677' };
  const log = openLog(file);
  log.write('ids', fields);
  await log.close();
  expect(lines(file)[0]).toMatchObject(fields);
});

it('cuts long strings and says how long they were', async () => {
  using folder = tempFolder();
  const file = join(folder.path, 'sol.log');
  const log = openLog(file);
  log.write('body', { text: 'x'.repeat(900_000), many: Array(1_000).fill('y'.repeat(100)) });
  log.write('body', { text: 'x'.repeat(900_000) });
  await log.close();
  const [many, one] = lines(file);
  expect(many).toMatchObject({ event: 'body', cutChars: expect.any(Number) });
  expect(one!.text).toBe(`${'x'.repeat(LIMITS.logString)}… (900000 characters)`);
  expect(statSync(file).size).toBeLessThan(5_000);
});

it('writes what it can of fields that are no JSON', async () => {
  using folder = tempFolder();
  const file = join(folder.path, 'sol.log');
  const log = openLog(file);
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  log.write('circle', circle);
  log.write('big', { count: 12n });
  log.write('error', { error: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) });
  await log.close();
  expect(lines(file)).toMatchObject([
    { event: 'circle', unprintable: expect.any(String) },
    { event: 'big', count: '12' },
    { event: 'error', error: { code: 'ECONNREFUSED', message: 'refused' } },
  ]);
});

it('never fails its caller: no folder, a folder in its place, written after close', async () => {
  using folder = tempFolder();
  mkdirSync(join(folder.path, 'taken.log'));
  for (const name of ['missing/sol.log', 'taken.log']) {
    const log = openLog(join(folder.path, name));
    log.write('opened');
    await log.close();
    log.write('late');
    await log.close();
  }
});

it('drops lines rather than filling the memory, and says how many', async () => {
  using folder = tempFolder();
  const file = join(folder.path, 'sol.log');
  const log = openLog(file);
  for (let n = 0; n < 1_500; n += 1) log.write('line', { n });
  await log.close();
  expect(lines(file).at(-1)).toMatchObject({ event: 'log-lines-lost', count: 500 });
});

it('goes on in a new file when somebody removes the folder meanwhile', async () => {
  using folder = tempFolder();
  const dir = join(folder.path, 'logs');
  mkdirSync(dir);
  const log = openLog(join(dir, 'sol.log'), 100);
  log.write('first', { filler: 'x'.repeat(50) });
  await new Promise((resolve) => setTimeout(resolve, 30));
  rmSync(dir, { recursive: true });
  mkdirSync(dir);
  log.write('lost', { filler: 'x'.repeat(50) });
  await new Promise((resolve) => setTimeout(resolve, 30));
  log.write('kept');
  await log.close();
  expect(lines(join(dir, 'sol.log')).map((line) => line.event)).toContain('kept');
});

function lines(file: string): Record<string, unknown>[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
