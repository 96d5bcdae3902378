import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { until } from '../os/fixtures.ts';
import { randomFrom, SEED } from '../random.ts';
import { type Sender, ServedPeer } from './served-peer.ts';

it('a subscription that comes while the peer closes is told `exited`, whenever it came', async () => {
  await using served = await ServedPeer.open();
  const sender = await served.sender('alpha');
  const early = sender.subscription();
  await sender.write(early);
  const settling = served.peer.settle();
  const late = sender.subscription();
  const written = sender.write(late);
  await settling;
  const latest = sender.subscription();
  await Promise.all([written, sender.write(latest)]);
  await served.peer.close();
  await until(() => sender.came.length >= 3);
  await sleep(20);
  for (const { msg_id } of [early, late, latest]) {
    expect(sender.notices(msg_id)).toMatchObject([{ state: 'exited' }]);
  }
});

describe(`at whatever moment the peer is closed (PEER_SEED=${SEED})`, () => {
  const random = randomFrom(SEED);
  const RUNS = 40;

  /** Writes a frame at its moment; whether the peer has ended that connection as one it received. */
  async function isReceived(sender: Sender, frame: object): Promise<boolean> {
    await sleep(random() * 40);
    return (await sender.write(frame)).code === null;
  }

  it('each received message has one reply, each received subscription one notice', async () => {
    const seen = { received: 0, failed: 0 };
    for (let run = 0; run < RUNS; run++) {
      // Half of them have a model that never answers.
      await using served = await ServedPeer.open({ script: (text) => (run % 2 ? text : null) });
      const senders = [await served.sender('a'), await served.sender('b'), await served.sender('c')];
      const talks = senders.map((sender) => {
        const [message, subscription] = [sender.message('work'), sender.subscription()];
        const received = [message, subscription].map((frame) => isReceived(sender, frame));
        const told = () => [sender.repliesTo(message.msg_id), sender.notices(subscription.msg_id)];
        return { received, told };
      });
      await sleep(random() * 40);
      await served.peer.settle();
      await sleep(random() * 10);
      await served.peer.close();
      // The process ends now.
      const told = talks.flatMap((talk) => talk.told()).map((frames) => frames.length);
      for (const [index, received] of talks.flatMap((talk) => talk.received).entries()) {
        const count = told[index] ?? 0;
        expect(count, `run ${run}`).toBe((await received) ? 1 : Math.min(count, 1));
        seen[(await received) ? 'received' : 'failed']++;
      }
    }
    expect(seen.received).toBeGreaterThan(RUNS);
    expect(seen.failed).toBeGreaterThan(RUNS / 4);
  });
});
