import { LIMITS } from '../limits.ts';
import type { Message, MessageRecord, Outcome } from './record.ts';

interface Row {
  /** Forgotten once its sender is told. */
  message: Message | null;
  clientId: string | null;
  outcome: Outcome | null;
  replyClaimed: boolean;
}

/**
 * The record of a wrapper without a store: lives as long as its process. Settled messages are forgotten, oldest
 * first, past `LIMITS.settledMessages`.
 */
export function memoryRecord(): MessageRecord {
  const rows = new Map<string, Row>();
  const settled: string[] = [];

  function row(id: string): Row {
    const found = rows.get(id);
    if (found === undefined) throw new Error(`message ${id} was never recorded`);
    return found;
  }

  function settle(id: string): void {
    settled.push(id);
    while (settled.length > LIMITS.settledMessages) rows.delete(settled.shift() ?? '');
  }

  return {
    receive(message) {
      if (rows.has(message.id)) throw new Error(`message ${message.id} is recorded already`);
      rows.set(message.id, { message, clientId: null, outcome: null, replyClaimed: false });
    },
    message: (id) => rows.get(id)?.message ?? undefined,
    claim(id, claim) {
      const found = row(id);
      if (found.clientId !== null || found.outcome !== null)
        throw new Error(`message ${id} is claimed already`);
      found.clientId = claim.clientId;
    },
    withdraw(id) {
      row(id).clientId = null;
    },
    taken() {},
    outcome(id, outcome) {
      const found = row(id);
      if (found.outcome !== null) return false;
      found.outcome = outcome;
      return true;
    },
    claimReply(id) {
      const found = row(id);
      if (found.replyClaimed) return false;
      found.replyClaimed = true;
      return true;
    },
    delivered(id) {
      const found = rows.get(id);
      if (found === undefined || found.message === null) return;
      found.message = null;
      settle(id);
    },
    close() {
      rows.clear();
    },
  };
}
