import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { memoryRecord } from '../../src/store/memory.ts';
import type { Message, Outcome } from '../../src/store/record.ts';

const message = (id: string): Message => ({
  id,
  msgId: id,
  text: 'text',
  priority: 'next',
  mark: null,
  inReplyTo: null,
  hopChain: [],
  sender: { kind: 'script', name: '', replyTo: null },
});
const unknown: Outcome = { state: 'unknown' };
const claim = { clientId: 'peer:a', afterTurnId: null };

describe('the record of one process', () => {
  it('keeps a message until its sender is told', () => {
    const record = memoryRecord();
    record.receive(message('a'));
    expect(record.message('a')).toEqual(message('a'));
    record.outcome('a', unknown);
    expect(record.message('a')).toEqual(message('a'));
    record.delivered('a', 'written');
    expect(record.message('a')).toBeUndefined();
  });

  it('takes one outcome, and the first one stays', () => {
    const record = memoryRecord();
    record.receive(message('a'));
    expect(record.outcome('a', unknown)).toBe(true);
    expect(record.outcome('a', { state: 'not-taken', reason: 'closed' })).toBe(false);
  });

  it('gives away the right to write the outcome once, also after the sender was told', () => {
    const record = memoryRecord();
    record.receive(message('a'));
    expect(record.claimReply('a')).toBe(true);
    record.delivered('a', 'maybe-written');
    expect(record.claimReply('a')).toBe(false);
  });

  it('lets a message be claimed once, and again only after the claim was withdrawn', () => {
    const record = memoryRecord();
    record.receive(message('a'));
    record.claim('a', claim);
    expect(() => record.claim('a', claim)).toThrow('claimed already');
    record.withdraw('a');
    record.claim('a', claim);
  });

  it('refuses to claim what has its outcome', () => {
    const record = memoryRecord();
    record.receive(message('a'));
    record.outcome('a', unknown);
    expect(() => record.claim('a', claim)).toThrow();
  });

  it('does not record one message twice', () => {
    const record = memoryRecord();
    record.receive(message('a'));
    expect(() => record.receive(message('a'))).toThrow('recorded already');
  });

  it('forgets the oldest of what is settled, and nothing that is open', () => {
    const record = memoryRecord();
    record.receive(message('open'));
    for (let index = 0; index <= LIMITS.settledMessages; index++) {
      record.receive(message(`m${index}`));
      record.outcome(`m${index}`, unknown);
      record.delivered(`m${index}`, 'none');
    }
    expect(() => record.outcome('m0', unknown)).toThrow('never recorded');
    expect(record.outcome('m1', unknown)).toBe(false);
    expect(record.message('open')).toEqual(message('open'));
  });
});
