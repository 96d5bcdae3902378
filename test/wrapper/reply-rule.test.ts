import { describe, expect, it } from 'vitest';
import type { Item, Turn, TurnStatus } from '../../src/harness/harness.ts';
import { verdict } from '../../src/wrapper/reply-rule.ts';

const user = (clientId: string | null): Item => ({ type: 'user', clientId });
const typed = user('825dca83-64d2-4191-8333-944455566677');
const says = (text: string, phase: string | null = 'final_answer'): Item => ({ type: 'agent', text, phase });
const thinks = (text: string): Item => says(text, 'commentary');
const tool: Item = { type: 'other' };
const output = (name: string): Item => ({ type: 'toolOutput', name });

function turn(status: TurnStatus, items: Item[], ids: { id?: string; root?: string } = {}): Turn {
  const id = ids.id ?? 't1';
  const error = status === 'failed' ? { message: 'high demand', kind: 'internalServerError' } : null;
  return { id, rootTurnId: ids.root ?? id, status, error, items };
}

const one = (status: TurnStatus, ...items: Item[]) => verdict([turn(status, items)], 'peer:1');
const answered = (text: string, together: 'message' | 'typed' | null = null) => ({
  type: 'answered',
  text,
  together,
});

describe('the reply rule', () => {
  it('answers with the final after the message', () => {
    expect(one('completed', user('peer:1'), thinks('hm'), tool, says('yes'))).toEqual(answered('yes'));
  });

  it('gives each of two turns its own answer', () => {
    const turns = [
      turn('completed', [user('peer:1'), says('A1')], { id: 't1' }),
      turn('completed', [user('peer:2'), says('A2')], { id: 't2' }),
    ];
    expect(verdict(turns, 'peer:1')).toEqual(answered('A1'));
    expect(verdict(turns, 'peer:2')).toEqual(answered('A2'));
  });

  it('says absent when no turn holds the message', () => {
    expect(one('completed', user('peer:2'), says('x'))).toEqual({ type: 'absent' });
  });

  it('waits while the turn runs, a final included, since the turn may go on', () => {
    expect(one('inProgress', user('peer:1'), says('yes'))).toEqual({ type: 'running' });
    expect(one('inProgress', user('peer:1'), thinks('hm'), user('peer:2'))).toEqual({ type: 'running' });
  });

  it.each(['inProgress', 'completed', 'interrupted', 'failed'] as const)(
    'answers with a final that a later user item closed, in a turn that is %s',
    (status) => {
      expect(one(status, user('peer:1'), says('yes'), user('peer:2'))).toEqual(answered('yes'));
    },
  );

  it('shares the final of a later message of the same turn, labelled', () => {
    const items = [user('peer:1'), thinks('hm'), user('peer:2'), says('both')];
    expect(one('completed', ...items)).toEqual(answered('both', 'message'));
    expect(verdict([turn('completed', items)], 'peer:2')).toEqual(answered('both'));
  });

  it('names a line typed at the terminal as the reason for sharing', () => {
    expect(one('completed', user('peer:1'), typed, says('both'))).toEqual(answered('both', 'typed'));
    expect(one('completed', user('peer:1'), user(null), says('both'))).toEqual(answered('both', 'typed'));
  });

  it('never answers with a final from before the message', () => {
    expect(one('completed', user('peer:2'), says('old'), user('peer:1'), thinks('hm'))).toEqual({
      type: 'no-final',
      partial: 'hm',
    });
  });

  it('takes the last final when a retry doubled it', () => {
    expect(one('completed', user('peer:1'), says('first'), says('second'))).toEqual(answered('second'));
  });

  it('puts partial answers before the final, in order', () => {
    const items = [
      user('peer:1'),
      says('p1', 'partial_answer'),
      thinks('hm'),
      says('p2', 'partial_answer'),
      says('f'),
    ];
    expect(one('completed', ...items)).toEqual(answered('p1\n\np2\n\nf'));
  });

  it('takes partial answers without a final for no answer', () => {
    expect(one('completed', user('peer:1'), says('p1', 'partial_answer'))).toEqual({
      type: 'no-final',
      partial: 'p1',
    });
  });

  it('counts a message without a phase as final only where no item of the turn has one', () => {
    expect(one('completed', user('peer:1'), says('plain', null))).toEqual(answered('plain'));
    expect(one('completed', user('peer:1'), thinks('hm'), says('plain', null))).toEqual({
      type: 'no-final',
      partial: 'hm\n\nplain',
    });
  });

  it('takes an unknown phase word for commentary and empty text for none', () => {
    expect(one('completed', user('peer:1'), says('x', 'musing'))).toEqual({ type: 'no-final', partial: 'x' });
    expect(one('completed', user('peer:1'), says('yes'), says('  '))).toEqual(answered('yes'));
  });

  it('ends a run at our own tool output when a final stood before it', () => {
    const items = [user('peer:1'), says('mine'), output('peer'), says('about the tool output')];
    expect(one('completed', ...items)).toEqual(answered('mine'));
    expect(one('completed', user('peer:1'), output('peer'), says('yes'))).toEqual(answered('yes'));
    expect(one('completed', user('peer:1'), says('early'), output('other'), says('yes'))).toEqual(
      answered('yes'),
    );
  });

  it('does not take a final of a failed turn for an answer', () => {
    expect(one('failed', user('peer:1'), says('half'))).toEqual({
      type: 'failed',
      message: 'high demand',
      kind: 'internalServerError',
      partial: 'half',
    });
  });

  describe('after an interrupted turn', () => {
    const broken = turn('interrupted', [user('peer:1'), thinks('hm')], { id: 't1' });
    const recovery = (status: TurnStatus, ...items: Item[]) => turn(status, items, { id: 't3', root: 't1' });
    const foreign = turn('completed', [user('peer:2'), says('other')], { id: 't2' });

    it('says interrupted with what was written so far', () => {
      expect(verdict([broken, foreign], 'peer:1')).toEqual({ type: 'interrupted', partial: 'hm' });
    });

    it('answers with any final of the recovery turn', () => {
      expect(verdict([broken, foreign, recovery('completed', says('done'))], 'peer:1')).toEqual(
        answered('done'),
      );
    });

    it('waits for a recovery turn that runs', () => {
      expect(verdict([broken, recovery('inProgress')], 'peer:1')).toEqual({ type: 'running' });
    });

    it('labels a recovery answer that a later message shares', () => {
      const turns = [broken, recovery('completed', thinks('on'), user('peer:2'), says('both'))];
      expect(verdict(turns, 'peer:1')).toEqual(answered('both', 'message'));
      expect(verdict(turns, 'peer:2')).toEqual(answered('both'));
    });

    it('labels a recovery answer for the earlier of two messages in the interrupted turn', () => {
      const both = turn('interrupted', [user('peer:1'), thinks('hm'), user('peer:2')], { id: 't1' });
      const turns = [both, recovery('completed', says('both'))];
      expect(verdict(turns, 'peer:1')).toEqual(answered('both', 'message'));
      expect(verdict(turns, 'peer:2')).toEqual(answered('both'));
    });

    it('follows a second recovery of the same root', () => {
      const again = turn('completed', [says('at last')], { id: 't4', root: 't1' });
      expect(verdict([broken, recovery('interrupted', thinks('more')), again], 'peer:1')).toEqual(
        answered('at last'),
      );
    });

    it('collects the partial text of every attempt', () => {
      expect(verdict([broken, recovery('interrupted', thinks('more'))], 'peer:1')).toEqual({
        type: 'interrupted',
        partial: 'hm\n\nmore',
      });
    });

    it('says no final when the recovery turn completed without one', () => {
      expect(verdict([broken, recovery('completed', thinks('more'))], 'peer:1')).toEqual({
        type: 'no-final',
        partial: 'hm\n\nmore',
      });
    });
  });
});
