import { join } from 'node:path';
import { LIMITS } from '../limits.ts';
import { ensurePrivateDir } from '../os/folders.ts';
import { isAgainst, storeFailure } from './failure.ts';
import {
  isServed,
  lost,
  type ProcessIdentity,
  releaseLease,
  type Seat,
  takeLease,
  thisProcess,
} from './lease.ts';
import { patiently } from './patience.ts';
import type { Claim, Delivery, Message, MessageRecord, Outcome, Restored, RestoredClaim } from './record.ts';
import { contentOf, giveUpNotes, readOpen } from './restore.ts';
import { removeSettled } from './retention.ts';
import { connect, type Database, loadSqlite, type Sqlite } from './sqlite.ts';
import {
  mayBeNoted,
  mustBeClaimable,
  mustBeDecided,
  mustBeNew,
  mustBeRecorded,
  mustBeUntaken,
} from './stage.ts';
import { type Statements, type StoredStage, stageOf, statements } from './statements.ts';

/** A wrapper may run for weeks. */
const RETENTION_EVERY_MS = 6 * 60 * 60 * 1000;

export interface StoreOptions {
  /** A private folder; made when it is missing. */
  readonly stateDir: string;
  readonly threadId: string;
  readonly name: string;
  /** Unique to this opening of the peer. */
  readonly instance: string;
  /** Who holds the thread, when it is not this process. */
  readonly self?: ProcessIdentity;
  readonly load?: () => Promise<Sqlite>;
}

/**
 * Opens the user's store, `<stateDir>/store.sqlite`, and takes the thread in it.
 * @throws PeerError `thread-taken` that says by whom; `store-busy`; `unsafe-folder`; StoreError when the store
 * cannot be used at all
 */
export async function openStore(options: StoreOptions): Promise<MessageRecord> {
  const { stateDir, threadId, name, instance, self = thisProcess(), load = loadSqlite } = options;
  const file = join(stateDir, 'store.sqlite');
  const seat: Seat = { threadId, name, instance, self };
  ensurePrivateDir(stateDir);
  try {
    const sqlite = await load();
    const endMs = performance.now() + LIMITS.recordMs;
    const db = await patiently(endMs, () => connect(file, sqlite));
    try {
      await patiently(endMs, () => db.transaction(() => takeLease(db, seat)).immediate());
      return new StoreRecord(file, db, seat);
    } catch (error) {
      db.close();
      throw error;
    }
  } catch (error) {
    throw storeFailure(file, error);
  }
}

/** Without a client id, the evidence alone is known. */
type ClaimColumns = Pick<RestoredClaim, 'clientId' | 'afterTurnId'>;

class StoreRecord implements MessageRecord {
  readonly #file: string;
  readonly #db: Database;
  readonly #seat: Seat;
  readonly #sql: Statements;
  readonly #open = new Map<string, Message>();
  readonly #retention: NodeJS.Timeout;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(file: string, db: Database, seat: Seat) {
    this.#file = file;
    this.#db = db;
    this.#seat = seat;
    this.#sql = statements(db);
    this.#retention = setInterval(() => void this.#retain(), RETENTION_EVERY_MS);
    this.#retention.unref();
    void this.#retain();
  }

  async receive(message: Message): Promise<void> {
    const { id, receivedAtMs } = message;
    const { threadId, name, instance } = this.#seat;
    await this.#write(() => {
      mustBeNew(id, stageOf(this.#sql, id));
      this.#sql.receive.run(id, threadId, name, instance, receivedAtMs, contentOf(message));
    });
    this.#open.set(id, message);
  }

  message(id: string): Message | undefined {
    return this.#open.get(id);
  }

  async claim(id: string, claim: Claim): Promise<void> {
    await this.#write(() => this.#insertClaim(id, this.#stage(id), claim));
  }

  async withdraw(id: string): Promise<void> {
    await this.#write(() => {
      const stage = this.#stage(id);
      mustBeUntaken(id, stage);
      const { changes } = this.#sql.withdraw.run(id, this.#seat.instance);
      if (stage.isClaimed && changes === 0) throw new Error(`message ${id} was claimed by another process`);
    });
  }

  async taken(id: string, turnId: string): Promise<void> {
    await this.#write(() => {
      const stage = this.#stage(id);
      if (!stage.isClaimed) this.#insertClaim(id, stage, { clientId: null, afterTurnId: turnId });
      this.#sql.taken.run(turnId, Date.now(), id);
    });
  }

  outcome(id: string, outcome: Outcome): Promise<boolean> {
    return this.#write(() => {
      const { isDecided, threadId } = this.#stage(id);
      if (isDecided || this.#isTheirs(threadId)) return false;
      this.#sql.outcome.run(id, outcome.state, JSON.stringify(outcome), this.#seat.instance, Date.now());
      return true;
    });
  }

  claimReply(id: string): Promise<boolean> {
    return this.#write(() => {
      const stage = this.#stage(id);
      mustBeDecided(id, stage);
      if (stage.isReplyClaimed) return false;
      this.#sql.claimReply.run(id, this.#seat.instance, Date.now());
      return true;
    });
  }

  claimNote(id: string): Promise<boolean> {
    return this.#write(() => {
      if (!mayBeNoted(this.#stage(id))) return false;
      this.#sql.claimNote.run(this.#seat.instance, Date.now(), id);
      return true;
    });
  }

  async delivered(id: string, delivery: Delivery): Promise<void> {
    await this.#write(() => {
      const stage = stageOf(this.#sql, id);
      // A receipt may come when its message is removed.
      if (stage === undefined) return;
      mustBeDecided(id, stage);
      if (!stage.isReplyClaimed) this.#sql.claimReply.run(id, this.#seat.instance, Date.now());
      this.#sql.delivered.run(delivery, Date.now(), id);
    });
    this.#open.delete(id);
  }

  claimCall(callId: string): Promise<boolean> {
    const { threadId, instance } = this.#seat;
    const nowMs = Date.now();
    return this.#write(() => {
      if (this.#sql.call.get(threadId, callId) !== undefined) return false;
      this.#sql.claimCall.run(threadId, callId, instance, nowMs, nowMs);
      return true;
    });
  }

  async restore(): Promise<Restored> {
    const opener = { ...this.#seat, isServed: (threadId: string) => this.#isTheirs(threadId) };
    const restored = await this.#write(() => {
      giveUpNotes(this.#db, opener);
      return readOpen(this.#db, opener);
    });
    const { unclaimed, ...others } = restored;
    for (const message of unclaimed) this.#open.set(message.id, message);
    for (const { message } of Object.values(others).flat()) this.#open.set(message.id, message);
    return restored;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    clearInterval(this.#retention);
    // A lease that cannot be given back is free when this process has ended.
    const released = this.#write(() => releaseLease(this.#db, this.#seat)).catch(() => {});
    this.#isClosed = true;
    await released;
    this.#open.clear();
    this.#db.close();
  }

  #insertClaim(id: string, stage: StoredStage, { clientId, afterTurnId }: ClaimColumns): void {
    mustBeClaimable(id, stage);
    if (stage.threadId !== this.#seat.threadId) throw new Error(`message ${id} is for another thread`);
    this.#sql.claim.run(id, clientId, afterTurnId, this.#seat.instance, Date.now());
  }

  #stage(id: string): StoredStage {
    return mustBeRecorded(id, stageOf(this.#sql, id));
  }

  /** A thread that is not ours and that somebody serves. */
  #isTheirs(threadId: string): boolean {
    return threadId !== this.#seat.threadId && isServed(this.#db, threadId, this.#seat.self);
  }

  /** One committed transaction, after all that were asked for before it. */
  #write<Result>(run: () => Result): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new Error('the record is closed'));
    const endMs = performance.now() + LIMITS.recordMs;
    const transaction = this.#db.transaction(run);
    const written = this.#last.then(() => patiently(endMs, () => transaction.immediate()));
    this.#last = written.catch(() => {});
    return written.catch((error: unknown) => {
      throw isAgainst('lease', error) ? lost(this.#db, this.#seat) : storeFailure(this.#file, error);
    });
  }

  async #retain(): Promise<void> {
    try {
      while (await this.#write(() => removeSettled(this.#db, Date.now())));
    } catch {
      // The next time will do.
    }
  }
}
