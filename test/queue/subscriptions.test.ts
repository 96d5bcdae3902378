import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { type Subscription, subscribe, withoutExpired } from '../../src/queue/subscriptions.ts';

const subscription = (msgId: string, pid = 1, over: Partial<Subscription> = {}): Subscription => ({
  msgId,
  socketPath: `/run/${pid}.sock`,
  pid,
  procStart: '1',
  fromMode: 'prompting',
  atMs: 0,
  ...over,
});
const ids = (subscriptions: readonly Subscription[]) => subscriptions.map((one) => one.msgId);

function add(...added: Subscription[]) {
  let held: readonly Subscription[] = [];
  const displaced: Subscription[] = [];
  for (const one of added) {
    const next = subscribe(held, one);
    held = next.subscriptions;
    displaced.push(...next.displaced);
  }
  return { held, displaced };
}

describe('idle subscriptions', () => {
  it('hold the newest one of a sender, the older one without a word', () => {
    const { held, displaced } = add(subscription('a'), subscription('b'), subscription('c', 2));
    expect(ids(held)).toEqual(['b', 'c']);
    expect(displaced).toEqual([]);
  });

  it('displace the oldest of a process past its cap', () => {
    const many = Array.from({ length: LIMITS.subscriptionsPerPid + 1 }, (_, index) =>
      subscription(`s${index}`, 1, { socketPath: `/run/${index}.sock` }),
    );
    const { held, displaced } = add(...many);
    expect(ids(displaced)).toEqual(['s0']);
    expect(held).toHaveLength(LIMITS.subscriptionsPerPid);
  });

  it('displace the oldest of all past the cap', () => {
    const many = Array.from({ length: LIMITS.subscriptions + 2 }, (_, index) =>
      subscription(`s${index}`, index + 1),
    );
    const { held, displaced } = add(...many);
    expect(ids(displaced)).toEqual(['s0', 's1']);
    expect(held).toHaveLength(LIMITS.subscriptions);
  });

  it('displace what is twelve hours old', () => {
    const late = subscription('late', 2, { atMs: LIMITS.subscriptionMs });
    const { held, displaced } = add(subscription('old'), late);
    expect([ids(held), ids(displaced)]).toEqual([['late'], ['old']]);
    expect(ids(withoutExpired([late], LIMITS.subscriptionMs + 1).kept)).toEqual(['late']);
  });

  it('never hold more than the caps, and lose none without telling but a replaced one', () => {
    const arbitrary = fc.array(
      fc.record({ pid: fc.integer({ min: 1, max: 40 }), socket: fc.integer({ min: 0, max: 6 }) }),
      {
        maxLength: 120,
      },
    );
    fc.assert(
      fc.property(arbitrary, (senders) => {
        const added = senders.map(({ pid, socket }, index) =>
          subscription(`s${index}`, pid, { socketPath: `/run/${pid}-${socket}.sock` }),
        );
        const { held, displaced } = add(...added);
        expect(held.length).toBeLessThanOrEqual(LIMITS.subscriptions);
        for (const { pid } of held) {
          expect(held.filter((one) => one.pid === pid).length).toBeLessThanOrEqual(
            LIMITS.subscriptionsPerPid,
          );
        }
        const newest = new Map(added.map((one) => [one.socketPath, one.msgId]));
        const known = new Set([...ids(held), ...ids(displaced)]);
        for (const msgId of newest.values()) expect(known).toContain(msgId);
      }),
    );
  });
});
