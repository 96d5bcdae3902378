import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { openStore } from '../../src/store/store.ts';
import { until } from '../os/fixtures.ts';
import { ServedPeer } from '../wrapper/served-peer.ts';

const MESSAGES = 10_000;
const WARM_UP = 2_000;
/** A recipient is told so many before its pace makes it wait. */
const BURST = 25;
const GROWTH_BYTES = 10 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

async function settledRss(): Promise<number> {
  for (let times = 0; times < 5; times++) {
    collectGarbage();
    await sleep(50);
  }
  return process.memoryUsage.rss();
}

/** Each burst comes from a sender of its own, who gets one answer to each message. */
async function exchange(served: ServedPeer, messages: number): Promise<void> {
  for (let done = 0; done < messages; done += BURST) {
    const sender = await served.sender(`sender ${done}`);
    const texts = Array.from({ length: BURST }, (_, index) => `message ${done + index}`);
    const sent = await Promise.all(texts.map((text) => sender.send(text)));
    await until(() => sender.came.length >= BURST, 20_000);
    expect(sent.map(({ msgId }) => sender.repliesTo(msgId).length)).toEqual(texts.map(() => 1));
    await sender.close();
    sender.came.length = 0;
    served.thread.given.length = 0;
  }
}

test(`${MESSAGES} messages leave nothing behind in the process`, async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'peer-soak-'));
  const seat = { threadId: '01a22e20-0000-7000-8000-000000000001', name: 'Sol', instance: 'soak' };
  const record = await openStore({ stateDir, ...seat });
  try {
    await using served = await ServedPeer.open({ isLogKept: false, record });
    await exchange(served, WARM_UP);
    const handles = process.getActiveResourcesInfo().length;
    const before = await settledRss();
    await exchange(served, MESSAGES);
    const grown = (await settledRss()) - before;
    console.log(`${MESSAGES} messages: ${(grown / 1024 / 1024).toFixed(1)} MB more`);
    expect(grown).toBeLessThan(GROWTH_BYTES);
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(handles + 2);
  } finally {
    await record.close();
    rmSync(stateDir, { recursive: true });
  }
});
