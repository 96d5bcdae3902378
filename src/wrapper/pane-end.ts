import { setTimeout as sleep } from 'node:timers/promises';
import { isSameProcess } from '../os/proc.ts';
import { type FamilyEntry, readProcesses } from './pane-processes.ts';

/** What a TUI gets to end by itself; then SIGKILL. */
const GRACE_MS = 1_500;
const POLL_MS = 20;
/** Codex 0.171.0 dies of either of the first two; a stopped process takes them when it goes on. */
const POLITE = ['SIGTERM', 'SIGHUP', 'SIGCONT'] as const;

/**
 * Ends a process with all its descendants and, when it leads a session of its own, everybody left in that: SIGTERM
 * and SIGHUP, after 1.5 s SIGKILL. Each signal goes to a process that was seen in the family and is still the same.
 * Resolves when none is left (or, stuck in the kernel, was sent SIGKILL for another 1.5 s).
 */
export async function endFamily(leader: FamilyEntry): Promise<void> {
  const family = new Map<number, FamilyEntry>();
  const left = () => [...family.values()].filter(({ pid, start }) => isSameProcess(pid, start));
  const look = () => {
    for (const member of readFamily(leader)) if (!family.has(member.pid)) family.set(member.pid, member);
    return left();
  };

  const members = look();
  for (const signal of POLITE) signalAll(members, signal);
  const graceEnds = Date.now() + GRACE_MS;
  while (left().length > 0 && Date.now() < graceEnds) await sleep(POLL_MS);

  const givesUp = Date.now() + GRACE_MS;
  for (let rest = look(); rest.length > 0 && Date.now() < givesUp; rest = look()) {
    signalAll(rest, 'SIGKILL');
    await sleep(POLL_MS);
  }
}

/** Also when the leader is gone: its session's id stays its pid, which is not given away while members live. */
function readFamily(leader: FamilyEntry): FamilyEntry[] {
  const all = readProcesses();
  const isReused = all.some((entry) => entry.pid === leader.pid && entry.start !== leader.start);
  if (isReused) return [];
  const found = new Set(all.filter((entry) => entry.pid === leader.pid || entry.session === leader.pid));
  // A set's iteration also visits what is added meanwhile: children, then theirs.
  for (const member of found) {
    for (const entry of all) if (entry.parent === member.pid) found.add(entry);
  }
  return [...found];
}

function signalAll(members: readonly FamilyEntry[], signal: NodeJS.Signals): void {
  for (const { pid } of members) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended since it was looked at.
    }
  }
}
