import { afterEach, expect, it, vi } from 'vitest';
import type { FromMode } from '../../src/frames/message.ts';
import { LIMITS } from '../../src/limits.ts';
import type { Subscription } from '../../src/queue/subscriptions.ts';
import { IdleNotices } from '../../src/wrapper/idle-notices.ts';
import type { Outbox } from '../../src/wrapper/outbox.ts';

afterEach(() => vi.useRealTimers());

/** Notices of a peer that is quiet or not, and what it sends of them. */
function noticesOf(peer: { isQuiet: boolean; fromMode?: FromMode }) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  const sent: object[] = [];
  const outbox = { send: async (_: unknown, frame: object) => sent.push(frame) } as unknown as Outbox;
  const { fromMode = 'prompting' } = peer;
  const notices = new IdleNotices({
    socketPath: '/run/1.sock',
    fromMode: () => fromMode,
    isQuiet: () => peer.isQuiet,
    outbox,
  });
  return { notices, sent };
}

function subscription(msgId: string, fields: Partial<Subscription> = {}): Subscription {
  const ids = { msgId, socketPath: '/run/2.sock', pid: 2, procStart: '2' };
  return { ...ids, fromMode: 'prompting', atMs: Date.now(), ...fields };
}

it('one notice comes when the peer has been quiet for a moment, with one line of its last answer', () => {
  const peer = { isQuiet: false };
  const { notices, sent } = noticesOf(peer);
  notices.subscribe(subscription('a'));
  vi.advanceTimersByTime(10_000);
  expect(sent).toEqual([]);
  notices.turnEnded({ finishedAtMs: 7, answer: `\n <b>[1]\t"done" ${'x'.repeat(200)}\nmore` });
  peer.isQuiet = true;
  notices.changed();
  vi.advanceTimersByTime(300);
  notices.changed();
  vi.advanceTimersByTime(300);
  expect(sent).toEqual([]);
  vi.advanceTimersByTime(10_000);
  notices.changed();
  vi.advanceTimersByTime(10_000);
  const detail = `b1done ${'x'.repeat(200)}`.slice(0, 100);
  expect(sent).toMatchObject([{ orig_msg_id: 'a', state: 'idle', finished_at: 7, detail }]);
});

it('a peer that is busy again in that moment sends none', () => {
  const peer = { isQuiet: true };
  const { notices, sent } = noticesOf(peer);
  notices.subscribe(subscription('a'));
  peer.isQuiet = false;
  vi.advanceTimersByTime(10_000);
  expect(sent).toEqual([]);
});

it.each([
  ['prompting', 'prompting', true],
  ['prompting', null, true],
  ['prompting', 'bypass', false],
  ['bypass', 'bypass', true],
  ['bypass', null, false],
] as const)(
  'a peer that is %s tells its last words to a subscriber that says %s: %s',
  (own, theirs, isTold) => {
    const { notices, sent } = noticesOf({ isQuiet: true, fromMode: own });
    notices.turnEnded({ finishedAtMs: 7, answer: 'done' });
    notices.subscribe(subscription('a', { fromMode: theirs }));
    vi.advanceTimersByTime(10_000);
    expect(sent).toMatchObject([{ state: 'idle', from_mode: own }]);
    expect('detail' in sent[0]!).toBe(isTold);
  },
);

it('after twelve hours a subscription is held no longer, and its sender told so', () => {
  const peer = { isQuiet: false };
  const { notices, sent } = noticesOf(peer);
  notices.subscribe(subscription('old'));
  vi.advanceTimersByTime(LIMITS.subscriptionMs - 1);
  notices.subscribe(subscription('young', { pid: 3 }));
  vi.advanceTimersByTime(1);
  notices.close();
  expect(sent).toMatchObject([
    { orig_msg_id: 'old', state: 'unavailable' },
    { orig_msg_id: 'young', state: 'exited' },
  ]);
});
