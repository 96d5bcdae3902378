import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { processState } from '../../src/os/proc.ts';
import { poll } from '../real/poll.ts';
import { send } from '../real/processes.ts';
import { PaneBench } from './pane-bench.ts';
import { hasNodePty, OuterTerminal } from './pane-outer.ts';

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
const rawTui = `
  import { execFileSync } from 'node:child_process';
  import { appendFileSync } from 'node:fs';
  execFileSync('stty', ['raw', '-echo', '-iexten'], { stdio: 'inherit' });
`;

test.skipIf(!hasNodePty)('each of the 256 byte values passes unchanged, both ways', async () => {
  await using bench = await PaneBench.open();
  const argv = bench.script(`${rawTui}
    process.stdin.on('data', (chunk) => appendFileSync(process.env.SEEN, chunk.toString('hex')));
    process.stdout.write(Buffer.concat([Buffer.from('<<'), Buffer.from('${everyByte.toString('hex')}', 'hex'), Buffer.from('>>')]));
  `);
  await using outer = new OuterTerminal(argv, bench.world);
  await poll(() => outer.output.includes('>>', 258), 5_000, 'no output');
  expect(outer.output.toString('hex')).toBe(
    Buffer.from(`<<${everyByte.toString('latin1')}>>`, 'latin1').toString('hex'),
  );
  outer.write(everyByte);
  expect(await bench.seen(/(..){256}/)).toBe(everyByte.toString('hex'));
});

test.skipIf(!hasNodePty || process.platform !== 'linux')(
  'a program that the wrapper starts does not hold the pty',
  async () => {
    await using bench = await PaneBench.open();
    await using _outer = new OuterTerminal(
      bench.script(`${rawTui} setTimeout(() => {}, 5_000);`),
      bench.world,
    );
    const { files } = (await bench.event('inherited')) as { files?: string };
    expect(files).toContain(' -> ');
    expect(files).not.toContain('ptmx');
  },
);

test.skipIf(!hasNodePty)('a burst of 1 MB arrives whole on a terminal that reads late', async () => {
  await using bench = await PaneBench.open();
  const argv = bench.script(`${rawTui}
    const lines = Array.from({ length: 16384 }, (_, index) => String(index).padEnd(63, '.') + '\\n').join('');
    process.stdout.write(lines, () => process.exit(0));
  `);
  await using outer = new OuterTerminal(argv, bench.world);
  outer.pause();
  await bench.event('opened');
  await sleep(500);
  outer.resume();
  expect(await bench.event('exited')).toMatchObject({ code: 0 });
  const wanted = Array.from({ length: 16384 }, (_, index) => `${String(index).padEnd(63, '.')}\n`).join('');
  await poll(
    () => outer.output.length >= wanted.length,
    5_000,
    () => `only ${outer.output.length} bytes`,
  );
  expect(hash(outer.output)).toBe(hash(Buffer.from(wanted)));
});

test.skipIf(!hasNodePty)(
  'the last output of a TUI arrives whole when the wrapper is late to read it',
  async () => {
    await using bench = await PaneBench.open();
    const argv = bench.script(`${rawTui}
    process.on('SIGUSR2', () => {
      appendFileSync(process.env.SEEN, 'leaving');
      process.stdout.write('x'.repeat(6000), () => process.exit(0));
    });
    setInterval(() => {}, 1000);
    process.stdout.write('ready');
  `);
    await using outer = new OuterTerminal(argv, bench.world);
    await poll(() => outer.output.includes('ready'), 5_000, 'not ready');
    const tui = (await bench.event('opened')).tui as number;
    outer.signalDriver('SIGSTOP');
    send(tui, 'SIGUSR2');
    await poll(() => [null, 'Z'].includes(processState(tui)), 5_000, 'the TUI did not end');
    outer.signalDriver('SIGCONT');
    expect(await bench.event('exited')).toMatchObject({ code: 0 });
    expect(outer.output.toString()).toBe(`ready${'x'.repeat(6_000)}`);
  },
);

test.skipIf(!hasNodePty)('a terminal that takes nothing more stops its TUI and not the wrapper', async () => {
  await using bench = await PaneBench.open();
  const argv = bench.script(`${rawTui}
    const more = () => {
      appendFileSync(process.env.SEEN, '.');
      process.stdout.write('x'.repeat(65536), more);
    };
    more();
  `);
  await using outer = new OuterTerminal(argv, bench.world);
  await bench.event('opened');
  outer.pause();
  await sleep(300);
  const [ticks, writes] = [bench.events().length, await bench.seen(/\./)];
  await sleep(400);
  expect(bench.events().length - ticks).toBeGreaterThan(3);
  expect(await bench.seen(/\./)).toBe(writes);
  outer.signalDriver('SIGUSR2');
  await bench.event('ended', 6_000);
});

test.skipIf(!hasNodePty)(
  'a TUI that reads nothing for a while gets a long paste whole, and does not stop the wrapper',
  async () => {
    await using bench = await PaneBench.open();
    const argv = bench.script(`${rawTui}
    process.stdout.write('ready');
    let count = 0;
    setTimeout(() => process.stdin.on('data', (chunk) => {
      count += chunk.length;
      if (count === 1000000) appendFileSync(process.env.SEEN, 'all');
    }), 800);
  `);
    await using outer = new OuterTerminal(argv, bench.world);
    await poll(() => outer.output.includes('ready'), 5_000, 'not ready');
    const before = bench.events().length;
    outer.write(Buffer.alloc(1_000_000, 'v'));
    await sleep(600);
    expect(bench.events().length - before).toBeGreaterThan(5);
    await bench.seen(/all/, 8_000);
  },
);

function hash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
