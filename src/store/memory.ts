import { LIMITS } from '../limits.ts';
import type { Claim, Delivery, Message, MessageRecord, Outcome, Restored, RestoredClaim } from './record.ts';
import {
  mayBeNoted,
  mustBeClaimable,
  mustBeDecided,
  mustBeNew,
  mustBeRecorded,
  mustBeUntaken,
  type Stage,
} from './stage.ts';

interface Row {
  /** Forgotten once its sender is told. */
  message: Message | null;
  claim: Pick<RestoredClaim, 'clientId' | 'afterTurnId'> | null;
  turnId: string | null;
  outcome: Outcome | null;
  isReplyClaimed: boolean;
  isNoted: boolean;
  delivery: Delivery | null;
}

/**
 * The record of a wrapper without a store: lives as long as its process. Settled messages and calls are forgotten,
 * oldest first, past `LIMITS.settledMessages`.
 */
export function memoryRecord(): MessageRecord {
  return new MemoryRecord();
}

class MemoryRecord implements MessageRecord {
  readonly #rows = new Map<string, Row>();
  readonly #settled: string[] = [];
  readonly #calls = new Set<string>();

  async receive(message: Message): Promise<void> {
    const before = this.#rows.get(message.id);
    mustBeNew(message.id, before && stageOf(before));
    this.#rows.set(message.id, newRow(message));
  }

  message(id: string): Message | undefined {
    return this.#rows.get(id)?.message ?? undefined;
  }

  async claim(id: string, claim: Claim): Promise<void> {
    const { row, stage } = this.#find(id);
    mustBeClaimable(id, stage);
    row.claim = claim;
  }

  async withdraw(id: string): Promise<void> {
    const { row, stage } = this.#find(id);
    mustBeUntaken(id, stage);
    row.claim = null;
  }

  async taken(id: string, turnId: string): Promise<void> {
    const { row, stage } = this.#find(id);
    if (!stage.isClaimed) {
      mustBeClaimable(id, stage);
      row.claim = { clientId: null, afterTurnId: turnId };
    }
    row.turnId ??= turnId;
  }

  async outcome(id: string, outcome: Outcome): Promise<boolean> {
    const { row, stage } = this.#find(id);
    if (stage.isDecided) return false;
    row.outcome = outcome;
    return true;
  }

  async claimReply(id: string): Promise<boolean> {
    const { row, stage } = this.#find(id);
    mustBeDecided(id, stage);
    if (stage.isReplyClaimed) return false;
    row.isReplyClaimed = true;
    return true;
  }

  async claimNote(id: string): Promise<boolean> {
    const { row, stage } = this.#find(id);
    if (!mayBeNoted(stage)) return false;
    row.isNoted = true;
    return true;
  }

  async delivered(id: string, delivery: Delivery): Promise<void> {
    // A receipt may come when its message is forgotten.
    if (!this.#rows.has(id)) return;
    const { row, stage } = this.#find(id);
    mustBeDecided(id, stage);
    row.isReplyClaimed = true;
    row.delivery = delivery;
    if (row.message !== null) this.#settle(id);
    row.message = null;
  }

  async claimCall(callId: string): Promise<boolean> {
    if (this.#calls.has(callId)) return false;
    this.#calls.add(callId);
    const [oldest] = this.#calls;
    if (this.#calls.size > LIMITS.settledMessages && oldest !== undefined) this.#calls.delete(oldest);
    return true;
  }

  async restore(): Promise<Restored> {
    return restored([...this.#rows.values()]);
  }

  async close(): Promise<void> {
    this.#rows.clear();
  }

  #find(id: string): { row: Row; stage: Stage } {
    const row = this.#rows.get(id);
    const stage = mustBeRecorded(id, row && { ...stageOf(row), row });
    return { row: stage.row, stage };
  }

  #settle(id: string): void {
    this.#settled.push(id);
    while (this.#settled.length > LIMITS.settledMessages) this.#rows.delete(this.#settled.shift() ?? '');
  }
}

function newRow(message: Message): Row {
  return {
    message,
    claim: null,
    turnId: null,
    outcome: null,
    isReplyClaimed: false,
    isNoted: false,
    delivery: null,
  };
}

function stageOf(row: Row): Stage {
  return {
    isClaimed: row.claim !== null,
    isTaken: row.turnId !== null,
    isDecided: row.outcome !== null,
    isReplyClaimed: row.isReplyClaimed,
    isNoted: row.isNoted,
    isTold: row.delivery !== null,
  };
}

function restored(rows: readonly Row[]): Restored {
  const open = rows.flatMap((row) => (row.message === null ? [] : [{ ...row, message: row.message }]));
  const decided = open.flatMap(({ message, outcome, isReplyClaimed, isNoted }) =>
    outcome === null || isNoted ? [] : [{ isReplyClaimed, decided: { message, outcome } }],
  );
  return {
    unclaimed: open.flatMap((row) => (row.outcome === null && row.claim === null ? [row.message] : [])),
    claimed: open.flatMap(({ message, outcome, claim, turnId }) =>
      outcome !== null || claim === null ? [] : [{ message, ...claim, turnId, isTaken: turnId !== null }],
    ),
    untold: decided.flatMap((row) => (row.isReplyClaimed ? [] : [row.decided])),
    halfTold: decided.flatMap((row) => (row.isReplyClaimed ? [row.decided] : [])),
    foreign: [],
  };
}
