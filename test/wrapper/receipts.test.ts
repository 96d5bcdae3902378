import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { until } from '../os/fixtures.ts';
import { type OnFrame, ServedPeer } from './served-peer.ts';

/** Writes a frame without a token in another process; resolves when the peer has taken it. */
function fromStranger(socketPath: string, frame: object): Promise<unknown> {
  const write = "require('net').connect(process.argv[1]).end(process.argv[2]).resume()";
  return promisify(execFile)(process.execPath, ['-e', write, socketPath, `${JSON.stringify(frame)}\n`]);
}

/** Sends a message to the peer, whose answer is received as `onFrame` does it; the deliveries in the log, in order. */
async function deliveries(onFrame: OnFrame, count: number): Promise<unknown[]> {
  await using served = await ServedPeer.open();
  const sender = await served.sender('alpha', onFrame);
  await sender.send('hello');
  const logged = () => served.logged.filter(({ event }) => event === 'reply').map(({ delivery }) => delivery);
  await until(() => logged().length >= count);
  await served.peer.settle();
  return logged();
}

it('a receipt that comes before the connection of the answer ends is not overwritten by that end', async () => {
  const isHeld: OnFrame = (answer, sender) => sender.receipt(answer, 'held');
  expect(await deliveries(isHeld, 1)).toEqual(['held']);
});

it('a receipt that comes after it is what holds from then on', async () => {
  const isDenied: OnFrame = (answer, sender) => {
    setTimeout(() => void sender.receipt(answer, 'denied'), 50);
  };
  expect(await deliveries(isDenied, 2)).toEqual(['written', 'denied']);
});

it('an answer dropped for coming too fast is sent again, and then written', async () => {
  let dropped = 0;
  const isTooFast: OnFrame = (answer, sender) => {
    if (dropped++ === 0) return sender.receipt(answer, 'dropped', { drop_reason: 'rate-limited' });
  };
  expect(await deliveries(isTooFast, 2)).toEqual(['dropped', 'written']);
});

it('a decision is not overwritten by the `held` that it overtook', async () => {
  const isDenied: OnFrame = async (answer, sender) => {
    await sender.receipt(answer, 'denied');
    await sender.receipt(answer, 'held');
  };
  expect(await deliveries(isDenied, 1)).toEqual(['denied']);
});

it('receipts of a stranger are nothing: the answer is written once', async () => {
  await using served = await ServedPeer.open();
  const sender = await served.sender('alpha');
  const { msgId } = await sender.send('hello');
  await until(() => sender.repliesTo(msgId).length === 1);
  const [answer] = sender.repliesTo(msgId);
  const forged = { type: 'control', action: 'peer_message_status', orig_msg_id: answer?.msg_id };
  await fromStranger(served.socketPath, { ...forged, status: 'dropped', drop_reason: 'rate-limited' });
  await fromStranger(served.socketPath, { ...forged, status: 'denied' });
  expect(served.logged.filter(({ event }) => event === 'receipt')).toHaveLength(2);
  await served.peer.settle();
  expect(sender.repliesTo(msgId)).toHaveLength(1);
  const written = served.logged.filter(({ event }) => event === 'reply').map(({ delivery }) => delivery);
  expect(written).toEqual(['written']);
});
