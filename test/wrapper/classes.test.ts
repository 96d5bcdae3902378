import { expect, it } from 'vitest';
import type { ThreadSettings } from '../../src/harness/harness.ts';
import { until } from '../os/fixtures.ts';
import { ServedPeer } from './served-peer.ts';

const SANDBOXES = ['read-only', 'workspace-write', 'danger-full-access'] as const;
const APPROVALS = ['never', 'on-request', 'on-failure', 'untrusted'];

it('a peer says `bypass` exactly when its thread has full access and never asks, as it is at that moment', async () => {
  await using served = await ServedPeer.open();
  const sender = await served.sender('alpha');
  const modeWith = async (settings: Partial<ThreadSettings>) => {
    served.thread.change(settings);
    const { msgId } = await sender.send('who are you');
    await until(() => sender.repliesTo(msgId).length === 1);
    const content = sender.repliesTo(msgId)[0]?.message?.content ?? '';
    return / from-mode="(\w+)">\n/.exec(content)?.[1];
  };
  for (const sandbox of SANDBOXES) {
    for (const approval of APPROVALS) {
      const isBypass = sandbox === 'danger-full-access' && approval === 'never';
      expect(await modeWith({ sandbox, approval }), `${sandbox}, ${approval}`).toBe(
        isBypass ? 'bypass' : 'prompting',
      );
    }
  }
});

it('the sentence about held answers is for the first one of a peer', async () => {
  await using served = await ServedPeer.open();
  const sender = await served.sender('alpha', (answer, own) => own.receipt(answer, 'held'));
  for (const text of ['one', 'two']) await sender.send(text);
  await until(() => sender.came.length === 2);
  await served.peer.settle();
  expect(served.held).toEqual(['alpha']);
});
