import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';
import { rawSender } from '../frames/sockets.ts';
import { until } from '../os/fixtures.ts';
import { fuzzedLine, type Random } from './fuzz-frames.ts';
import { type Sender, ServedPeer } from './served-peer.ts';

const LINES_PER_CONNECTION = 250;
const AT_ONCE = 4;
const MB = 1024 * 1024;

/** Writes so many random and damaged lines to a peer, and a good message now and then, which must be answered. */
export async function fuzz(random: Random, lineCount: number): Promise<void> {
  await using served = await ServedPeer.open({ script: (text) => `echo: ${text}`, isLogKept: false });
  const sender = await served.sender('good');
  const openBefore = openPipes();
  await round(random, served, sender, lineCount / 20);
  const before = memory();
  for (let part = 0; part < 10; part++) await round(random, served, sender, lineCount / 10);
  await until(() => served.peer.status().queued + served.peer.status().claims === 0);
  const after = memory();
  expect(after.heapUsed - before.heapUsed).toBeLessThan(5 * MB);
  expect(after.rss - before.rss).toBeLessThan(150 * MB);
  await until(() => openPipes() <= openBefore);
}

async function round(random: Random, served: ServedPeer, sender: Sender, lineCount: number): Promise<void> {
  for (let written = 0; written < lineCount; written += AT_ONCE * LINES_PER_CONNECTION) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => writeLines(random, served, sender)));
  }
  const { msgId, code } = await sender.send('a good one');
  expect(code).toBeNull();
  await until(() => sender.repliesTo(msgId).length === 1);
  expect(sender.repliesTo(msgId)[0]).toMatchObject({ peerwire: { kind: 'answer' } });
  // What the test itself keeps is not what is measured.
  for (const kept of [served.thread.given, sender.came]) kept.length = 0;
}

/** Lines on one connection, cut anywhere into chunks; some break it off instead of ending it. */
async function writeLines(random: Random, served: ServedPeer, { address }: Sender): Promise<void> {
  const { socket, ended } = rawSender(served.socketPath);
  const all = Buffer.concat(Array.from({ length: LINES_PER_CONNECTION }, () => fuzzedLine(random, address)));
  for (let at = 0; at < all.length; ) {
    const next = at + 1 + Math.floor(random() * 20_000);
    socket.write(all.subarray(at, next));
    at = next;
  }
  if (random() < 0.1) socket.destroySoon();
  else socket.end();
  expect((await ended).bytes).toBe(0);
}

function openPipes(): number {
  return process.getActiveResourcesInfo().filter((name) => name.startsWith('Pipe')).length;
}

function memory(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage();
}
