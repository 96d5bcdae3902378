import type { Message } from '../../src/store/record.ts';

/** A message of nobody in particular, who gave no address. */
export function messageOf(over: Partial<Message> = {}): Message {
  return {
    id: 'm',
    msgId: null,
    text: 'x',
    priority: 'next',
    mark: null,
    inReplyTo: null,
    hopChain: [],
    sender: { kind: 'script', name: '', replyTo: null },
    afterTurnId: null,
    receivedAtMs: 0,
    ...over,
  };
}
