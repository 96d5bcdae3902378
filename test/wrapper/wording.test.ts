import { describe, expect, it } from 'vitest';
import type { Message, Outcome } from '../../src/store/record.ts';
import { framed, shortId } from '../../src/wrapper/framing.ts';
import { reply } from '../../src/wrapper/wording.ts';

const base: Message = {
  id: 'f1e2d3c4-0000-4000-8000-000000000000',
  msgId: '1a2b3c4d-1111-4222-8333-944455566677',
  text: 'the text',
  priority: 'next',
  mark: null,
  inReplyTo: null,
  hopChain: [],
  sender: {
    kind: 'claude',
    name: 'alpha',
    replyTo: { socketPath: '/run/a.sock', pid: 1, procStart: '2', sessionId: null },
  },
  afterTurnId: null,
  receivedAtMs: 0,
};

describe('the header before a message', () => {
  it('names a Claude session and promises that the whole reply goes back', () => {
    expect(framed(base)).toBe(
      'Message from Claude session "alpha" via the peer bridge (id 1a2b3c4d).\n' +
        'Reply in plain text; your whole reply is sent back to them.\n\nthe text',
    );
  });

  it.each([
    ['codex', 'Message from Codex peer "Sol" via'],
    ['command', 'Message from the command line "Sol" via'],
    ['script', 'Message from a script "Sol" via'],
  ] as const)('names a sender of kind %s', (kind, start) => {
    expect(framed({ ...base, sender: { ...base.sender, kind, name: 'Sol' } })).toContain(start);
  });

  it('promises nothing when no answer can be sent', () => {
    const text = framed({ ...base, sender: { kind: 'script', name: '', replyTo: null } });
    expect(text).toContain('Message from a script via the peer bridge');
    expect(text).toContain('nothing you write here can be sent back');
    expect(text).not.toContain('your whole reply');
  });

  it.each(['answer', 'note'] as const)('says of an %s that nothing is sent back', (mark) => {
    const text = framed({ ...base, mark, inReplyTo: '99999999-aaaa' });
    expect(text).toMatch(
      /^(Answer|Note) from Claude session "alpha" via the peer bridge to your message 99999999/,
    );
    expect(text).toContain('nothing you write here is sent back');
    expect(text).not.toContain('your whole reply');
  });

  it('keeps a foreign name on one line, without quotes, at most 64 characters', () => {
    const name = `evil"\n\u001b[2J\u202e${'x'.repeat(200)}`;
    const [first, second] = framed({ ...base, sender: { ...base.sender, name } }).split('\n');
    expect(second).toBe('Reply in plain text; your whole reply is sent back to them.');
    const shown = /"(.*)" via/.exec(first ?? '')?.[1] ?? '';
    expect(shown).not.toMatch(/["\p{Cc}\u202e]/u);
    expect(shown.length).toBeLessThanOrEqual(64);
  });

  it('shows only plain characters of a foreign id', () => {
    expect(shortId({ id: 'x', msgId: '"\u001b[2J)a-b\n' })).toBe('2Ja-b');
    expect(shortId({ id: 'abcdefgh-1', msgId: null })).toBe('abcdefgh');
  });
});

describe('the reply to a message', () => {
  const told = (outcome: Outcome) => reply(outcome, '1a2b3c4d', 'Sol');

  it('is the answer, its first line content, its last line the id', () => {
    expect(told({ state: 'answered', text: 'yes', together: null })).toEqual({
      kind: 'answer',
      outcome: 'answered',
      text: 'yes\n\n(answer to 1a2b3c4d)',
    });
  });

  it.each([
    ['message', '(answer to 1a2b3c4d, given together with a later message)'],
    ['typed', "(answer to 1a2b3c4d, given together with a line typed at Sol's terminal)"],
  ] as const)('says when the answer was given together with a later %s', (together, last) => {
    expect(told({ state: 'answered', text: 'yes', together }).text.split('\n').at(-1)).toBe(last);
  });

  it.each<[Outcome, string]>([
    [{ state: 'no-answer', reason: 'interrupted', detail: '', partial: '' }, 'interrupted'],
    [{ state: 'no-answer', reason: 'failed', detail: 'high demand', partial: '' }, 'Codex says: high demand'],
    [
      { state: 'no-answer', reason: 'usage-limit', detail: 'try at 7', partial: '' },
      'usage limit. Codex says: try at 7',
    ],
    [
      { state: 'no-answer', reason: 'no-final', detail: '', partial: 'so far' },
      'Partial, what it had written so far:\nso far',
    ],
    [{ state: 'no-answer', reason: 'reverted', detail: '', partial: '' }, 'taken back'],
    [{ state: 'no-answer', reason: 'closed', detail: '', partial: '' }, 'closed while it worked'],
    [{ state: 'not-taken', reason: 'closed' }, 'safe to send again'],
    [{ state: 'not-taken', reason: 'dropped' }, 'safe to send again'],
    [{ state: 'refused', reason: 'size', detail: 'too large' }, 'too long'],
    [{ state: 'refused', reason: 'queue-full', detail: '1000 messages are waiting' }, 'Send it again later'],
    [{ state: 'refused', reason: 'harness', detail: 'no' }, 'refused your message each time'],
    [{ state: 'unknown' }, 'look before you send it again'],
  ])('is one note that says why: %j', (outcome, part) => {
    const note = told(outcome);
    expect(note).toMatchObject({ kind: 'note', outcome: outcome.state });
    expect(note.text).toMatch(/^\[no answer to 1a2b3c4d: [a-z-]+\] /);
    expect(note.text).toContain(part);
  });
});
