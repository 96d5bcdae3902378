import type { Message, MessageRecord, Outcome, Restored } from '../../src/store/record.ts';

export const unknown: Outcome = { state: 'unknown' };
export const claim = { clientId: 'peer:a', afterTurnId: null };
export const nothing: Restored = { unclaimed: [], claimed: [], untold: [], halfTold: [], foreign: [] };

export function message(id: string, changes: Partial<Message> = {}): Message {
  return {
    id,
    msgId: `msg-${id}`,
    text: `text of ${id}`,
    priority: 'next',
    mark: null,
    inReplyTo: null,
    hopChain: [],
    sender: {
      kind: 'claude',
      name: 'alpha',
      replyTo: { socketPath: '/run/cc/1.sock', pid: 1, procStart: '22', sessionId: 's' },
    },
    afterTurnId: null,
    receivedAtMs: 1_790_000_000_000,
    ...changes,
  };
}

/** Takes a message as far as `last`, through every step before it. */
export async function advance(record: MessageRecord, id: string, last: Step): Promise<void> {
  for (const step of STEPS.slice(0, STEPS.indexOf(last) + 1)) await perform[step](record, id);
}

export const STEPS = ['receive', 'claim', 'taken', 'outcome', 'reply', 'note', 'delivered'] as const;
export type Step = (typeof STEPS)[number];

const perform: Record<Step, (record: MessageRecord, id: string) => Promise<unknown>> = {
  receive: (record, id) => record.receive(message(id)),
  claim: (record, id) => record.claim(id, { clientId: `peer:${id}`, afterTurnId: 'turn-0' }),
  taken: (record, id) => record.taken(id, 'turn-1'),
  outcome: (record, id) => record.outcome(id, { state: 'answered', text: `answer to ${id}`, together: null }),
  reply: (record, id) => record.claimReply(id),
  note: (record, id) => record.claimNote(id),
  delivered: (record, id) => record.delivered(id, 'written'),
};
