import { PeerError } from '../errors.ts';
import { isSameProcess, isStopped, pidDomain, processStart, processState } from '../os/proc.ts';
import { oneLine } from '../os/terminal.ts';
import type { Database } from './sqlite.ts';

/** A process as it can be found again: its pid alone may be another's tomorrow. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly procStart: string | null;
  readonly pidDomain: string;
}

/** Who wants to serve which thread, and under which name. */
export interface Seat {
  readonly threadId: string;
  readonly name: string;
  /** Unique to this opening of the peer. */
  readonly instance: string;
  readonly self: ProcessIdentity;
}

interface Owner {
  readonly peer: string;
  readonly instance: string;
  readonly pid: number;
  readonly proc_start: string | null;
  readonly pid_domain: string;
}

export function thisProcess(): ProcessIdentity {
  return { pid: process.pid, procStart: processStart(process.pid), pidDomain: pidDomain() };
}

/**
 * Makes the thread ours, for as long as we live: others take it over only from a process that is proven dead. Within
 * the caller's transaction.
 * @throws PeerError `thread-taken` that says by whom
 */
export function takeLease(db: Database, { threadId, name, instance, self }: Seat): void {
  const owner = ownerOf(db, threadId);
  if (owner !== undefined && owner.instance !== instance && !isProvenDead(owner, self)) {
    throw taken(owner, name, self);
  }
  db.prepare(
    `INSERT INTO owner (thread_id, peer, instance, pid, proc_start, pid_domain, since_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (thread_id) DO UPDATE SET peer = excluded.peer, instance = excluded.instance, pid = excluded.pid,
       proc_start = excluded.proc_start, pid_domain = excluded.pid_domain, since_ms = excluded.since_ms`,
  ).run(threadId, name, instance, self.pid, self.procStart, self.pidDomain, Date.now());
}

/** Leaves the thread to others; a lease that was lost meanwhile is not touched. */
export function releaseLease(db: Database, { threadId, instance }: Seat): void {
  db.prepare('DELETE FROM owner WHERE thread_id = ? AND instance = ?').run(threadId, instance);
}

/** Whether somebody who may be alive serves the thread. */
export function isServed(db: Database, threadId: string, self: ProcessIdentity): boolean {
  const owner = ownerOf(db, threadId);
  return owner !== undefined && !isProvenDead(owner, self);
}

/** What a wrapper is told that has lost its thread; it gives nothing more to the harness. */
export function lost(db: Database, { threadId, name }: Seat): PeerError {
  const owner = ownerOf(db, threadId);
  const by = owner === undefined ? 'nobody' : who(owner);
  return new PeerError(
    'thread-taken',
    `${oneLine(name, 64)} does not serve its thread any more; now ${by} does. Nothing was recorded or given to it.`,
  );
}

function ownerOf(db: Database, threadId: string): Owner | undefined {
  const columns = 'peer, instance, pid, proc_start, pid_domain';
  return db.prepare(`SELECT ${columns} FROM owner WHERE thread_id = ?`).get(threadId) as Owner | undefined;
}

/** Pids of another domain say nothing here: such a process counts as alive. */
function isProvenDead(owner: Owner, self: ProcessIdentity): boolean {
  return owner.pid_domain === self.pidDomain && !isSameProcess(owner.pid, owner.proc_start ?? undefined);
}

function taken(owner: Owner, name: string, self: ProcessIdentity): PeerError {
  return new PeerError(
    'thread-taken',
    `This thread is already open as ${who(owner)}${remedy(owner, name, self)}`,
  );
}

function who({ peer, pid }: Owner): string {
  return `${oneLine(peer, 64)}: pid ${pid}`;
}

function remedy(owner: Owner, name: string, self: ProcessIdentity): string {
  if (owner.pid_domain !== self.pidDomain) {
    const fresh = `peer open ${oneLine(name, 64)} --new`;
    return `, in another container or on another machine, where it cannot be looked up. Close it there, or begin another thread: ${fresh}`;
  }
  return isStopped(processState(owner.pid) ?? '')
    ? `, which is stopped. Let it go on (kill -CONT ${owner.pid}), or end it, then open the thread again.`
    : '. Go there, or close that peer first.';
}
