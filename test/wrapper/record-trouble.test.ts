import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PeerError } from '../../src/errors.ts';
import { LIMITS } from '../../src/limits.ts';
import { memoryRecord } from '../../src/store/memory.ts';
import type { Message, MessageRecord } from '../../src/store/record.ts';
import { Shell } from '../../src/wrapper/shell.ts';
import { FakeThread } from '../fake-harness.ts';
import { until } from '../os/fixtures.ts';
import { messageOf } from './message.ts';
import { ServedPeer } from './served-peer.ts';

type Step = 'receive' | 'claim' | 'outcome';

/** A record whose next `times` calls of one step find the store locked. */
function lockedFor(step: Step, times: number): MessageRecord {
  const record = memoryRecord();
  let left = times;
  return new Proxy(record, {
    get(target, key) {
      const method = Reflect.get(target, key);
      return (...args: unknown[]) => {
        if (key === step && left-- > 0)
          return Promise.reject(new PeerError('store-busy', 'the store is locked'));
        return method.apply(target, args);
      };
    },
  });
}

describe('a store that is locked for longer than one attempt', () => {
  it.each(['claim', 'outcome'] as const)(
    'delays the %s, and the message is given and answered once',
    async (step) => {
      await using served = await ServedPeer.open({ script: () => 'yes', record: lockedFor(step, 1) });
      const sender = await served.sender('alpha');
      const { msgId } = await sender.send('a question');
      await until(() => sender.repliesTo(msgId).length === 1);
      expect(sender.repliesTo(msgId)).toMatchObject([{ peerwire: { kind: 'answer' } }]);
      expect(served.thread.given).toHaveLength(1);
    },
  );

  it('turns a message away with a note, and the next one is taken', async () => {
    await using served = await ServedPeer.open({ script: () => 'yes', record: lockedFor('receive', 1) });
    const sender = await served.sender('alpha');
    const lost = await sender.send('cannot be recorded');
    const taken = await sender.send('can be');
    await until(() => sender.repliesTo(taken.msgId).length === 1);
    expect(sender.repliesTo(lost.msgId)).toMatchObject([{ peerwire: { kind: 'note', outcome: 'refused' } }]);
    expect(served.thread.given).toHaveLength(1);
  });
});

it('a message to a full queue is turned away before it is recorded', async () => {
  const received: string[] = [];
  const record = memoryRecord();
  const shell = new Shell({
    thread: new FakeThread(),
    record: { ...record, receive: async ({ id }: Message) => void received.push(id) },
    log: { write: () => {}, hide: () => {}, close: async () => {} },
    claims: [],
    frame: () => '',
    onOutcome: () => {},
    onState: () => {},
    onRecordLost: () => {},
  });
  for (let index = 0; index < LIMITS.queueMessages; index++) {
    shell.take({ type: 'message', id: `m${index}`, priority: 'next', bytes: 1 });
  }
  await expect(shell.receive(messageOf({ id: 'late' }))).rejects.toThrow(
    `${LIMITS.queueMessages} messages are waiting`,
  );
  expect(received).toEqual([]);
});

it('an answer too long for a frame is sent although its file cannot be written', async () => {
  await using served = await ServedPeer.open({ script: () => 'long '.repeat(300_000) });
  writeFileSync(join(served.folder, 'texts'), 'a file in place of the folder');
  const sender = await served.sender('alpha');
  const { msgId } = await sender.send('a question');
  await until(() => sender.repliesTo(msgId).length === 1);
  expect(sender.repliesTo(msgId)).toMatchObject([{ peerwire: { kind: 'answer' } }]);
});
