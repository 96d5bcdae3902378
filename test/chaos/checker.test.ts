import { describe, expect, test } from 'vitest';
import { check } from './checker.ts';
import type { Evidence, Fault } from './evidence.ts';
import { report } from './story.ts';

const MARKER = 'mk-0000-0001';
const message = { id: 'm', thread_id: 't', peer: 'Sol', msgId: 'id' };
const answer = { sender: 'a', atMs: 160, kind: 'answer', outcome: 'answered', inReplyTo: 'id' };
const reply = {
  message_id: 'm',
  claimed_at_ms: 150,
  noted_at_ms: null,
  delivery: 'written',
  delivered_at_ms: 165,
};
const sent = {
  marker: MARKER,
  msgId: 'id',
  sender: 'a',
  peer: 'Sol',
  priority: 'next',
  error: null,
} as const;
const item = {
  threadId: 't',
  turnId: 'u',
  turnStatus: 'completed',
  clientId: 'peer:m',
  text: `do ${MARKER}`,
};
/** One message, from the sender and back, as it should be. */
const sound: Evidence = {
  seed: 0,
  sent: [{ ...sent, startedAtMs: 0, endedAtMs: 5, isWritten: true }],
  faults: [],
  deaths: [],
  store: {
    messages: [message],
    claims: [{ message_id: 'm', client_id: 'peer:m', claimed_at_ms: 10 }],
    outcomes: [{ message_id: 'm', state: 'answered' }],
    replies: [reply],
  },
  userItems: [item],
  requests: [{ atMs: 40, userTexts: ['context', `do ${MARKER}`] }],
  received: [{ ...answer, body: `done ${MARKER}` }],
  gone: [],
};
const halfTold = { ...answer, kind: 'note', atMs: 900, body: '[…] it may have reached you, and is not …' };
const unrecorded: Partial<Evidence> = {
  store: { messages: [], claims: [], outcomes: [], replies: [] },
  userItems: [],
  requests: [],
  received: [],
};

const judged = (over: Partial<Evidence>) => check({ ...sound, ...over }).map(({ what }) => what);
const store = (over: Partial<Evidence['store']>) => ({ store: { ...sound.store, ...over } });
const killed = (atMs: number, what = 'SIGKILL'): Fault => {
  return { target: 'wrapper', name: 'Sol', what, atMs, goneAtMs: atMs + 5, backAtMs: atMs + 700 };
};

test('a message that was answered once is no breach', () => {
  expect(judged({})).toEqual([]);
});

describe('the checker sees', () => {
  const note = { ...sound.received[0]!, kind: 'note', body: 'a note' };
  const typed = {
    ...sound.received[0]!,
    body: 'else\n\n(answer to id, given together with a later message)',
  };

  test.each<[string, Partial<Evidence>, string]>([
    ['a second user item', { userItems: [item, item] }, '2 user items have its client id'],
    [
      'a copy in another thread',
      { userItems: [item, { ...item, threadId: 'v', clientId: null }] },
      '2 user items hold it',
    ],
    [
      'a request with two copies',
      { requests: [{ atMs: 40, userTexts: [MARKER, MARKER] }] },
      'one model request holds it in 2 user items',
    ],
    ['a second record', store({ messages: [message, { ...message, id: 'n' }] }), 'it is recorded 2 times'],
    ['no outcome', store({ outcomes: [] }), 'it has 0 outcomes'],
    ['no claim', store({ claims: [] }), 'it was handed over without a claim'],
    ['nobody told', { received: [] }, 'its sender was told nothing (written)'],
    ['a second answer', { received: [sound.received[0]!, sound.received[0]!] }, '2 answers came'],
    ['a note after an answer', { received: [sound.received[0]!, note] }, '2 replies came'],
    ['an answer to somebody else', { received: [{ ...sound.received[0]!, sender: 'b' }] }, 'b got its reply'],
    [
      'an answer about something else',
      { received: [{ ...sound.received[0]!, body: 'else' }] },
      'its answer is about something else: "else"',
    ],
    [
      'another outcome than the recorded one',
      { received: [{ ...note, outcome: 'unknown' }] },
      'it is answered, its sender was told unknown',
    ],
    [
      'what is safe to send again and was not',
      store({ outcomes: [{ message_id: 'm', state: 'not-taken' }] }),
      'it is not-taken and reached the model',
    ],
    [
      'a message that is not run although its sender waits',
      store({ outcomes: [{ message_id: 'm', state: 'expired' }] }),
      'it expired while its sender waited',
    ],
    ['a wrapper that ends by itself', { deaths: ['1'] }, 'a wrapper ended by itself: 1'],
  ])('%s', (_what, over, breach) => {
    expect(judged(over)).toContain(breach);
  });

  test('a note about a reply only where nobody was killed while it was written', () => {
    const noted = store({ replies: [{ ...reply, noted_at_ms: 890 }] });
    const received = [sound.received[0]!, halfTold];
    expect(judged({ ...noted, received, faults: [killed(155)] })).toEqual([]);
    expect(judged({ ...noted, received, faults: [killed(1_500)] })).toHaveLength(1);
    expect(judged({ ...noted, received, faults: [killed(155, 'SIGTERM')] })).toHaveLength(1);
  });

  test('a message that was lost only where nobody was killed while it was written', () => {
    expect(judged({ ...unrecorded, faults: [killed(3)] })).toEqual([]);
    expect(judged({ ...unrecorded, faults: [killed(300)] })).toHaveLength(1);
    expect(judged({ ...unrecorded, sent: [{ ...sound.sent[0]!, isWritten: false }] })).toEqual([]);
  });

  test('no breach in an answer that was given together with another', () => {
    expect(judged({ received: [typed] })).toEqual([]);
  });

  test('no breach in a killed sender that was told nothing', () => {
    expect(judged({ received: [], gone: ['a'] })).toEqual([]);
  });
});

test('a report has the seed, the faults and the whole story of each message in question', () => {
  const evidence = { ...sound, seed: 7, faults: [killed(155)], received: [] };
  const text = report(evidence, check(evidence));
  expect(text).toContain('PEER_SEED=7');
  expect(text).toMatch(/155 ms {2}SIGKILL of Sol, over after 5 ms, back after 700 ms/);
  for (const part of ['begins to write', 'claimed as peer:m', 'the model sees it', 'its outcome: answered']) {
    expect(text).toContain(part);
  }
});
