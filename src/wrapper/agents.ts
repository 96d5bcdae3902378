import { PeerError } from '../errors.ts';
import { isSameProcess, pidDomain } from '../os/proc.ts';
import { findPeer } from '../registry/find.ts';
import { harnessOf } from '../registry/kind.ts';
import { isReachable, liveRows } from '../registry/live.ts';
import { isListed, type Row, whereIs } from '../registry/row.ts';
import type { Agent } from '../tools/courier.ts';

/** An agent with the row it was found by. */
export interface FoundAgent extends Agent {
  readonly row: Row;
}

type ListedRow = Row & { readonly messagingSocketPath: string };

/** Every other session that takes messages now. */
export async function agents(sessionsDir: string): Promise<FoundAgent[]> {
  const rows = (await liveRows(sessionsDir)).filter(isListed).filter((row) => row.pid !== process.pid);
  const reachable = await Promise.all(rows.map(isReachable));
  return rows.filter((_, index) => reachable[index]).flatMap((row) => toAgent(row) ?? []);
}

/**
 * The one session of that name or pid, which takes connections now.
 * @throws PeerError `no-such-peer`, `ambiguous-peer`, `not-sent`, `refused`, `folder-unreadable`
 */
export async function findAgent(sessionsDir: string, to: string): Promise<FoundAgent> {
  const row = findPeer(await liveRows(sessionsDir), to, 'list_agents shows who is there.');
  if (row.pid === process.pid) throw new PeerError('refused', `Not sent: ${row.name} is you yourself.`);
  if (!isListed(row)) {
    throw new PeerError('not-sent', `Not sent: ${row.name} is still opening. Try again in a moment.`);
  }
  const agent = toAgent(row);
  if (agent === null) {
    const why = 'is a command that waits for an answer, not a session';
    throw new PeerError('refused', `Not sent: ${row.name} ${why}.`);
  }
  if (await isReachable(row)) return agent;
  const why = 'takes no connections: its process is stopped or hangs';
  throw new PeerError('not-sent', `Not sent: ${row.name} (${whereIs(row)}) ${why}.`);
}

/** Whether its process lives. The pid of another container means nothing here; its socket can tell. */
export async function isThere(agent: FoundAgent): Promise<boolean> {
  const { row } = agent;
  return isElsewhere(agent) ? isReachable(row) : isSameProcess(row.pid, row.procStart);
}

/** In another container, say, where pids are others. */
export function isElsewhere({ row }: FoundAgent): boolean {
  return row.pidDomain !== undefined && row.pidDomain !== pidDomain();
}

/** Null for the row of a command. */
function toAgent(row: ListedRow): FoundAgent | null {
  const kind = harnessOf(row);
  if (kind === 'cli') return null;
  return {
    name: row.name,
    kind,
    status: row.status ?? null,
    waitingFor: row.waitingFor ?? null,
    model: row.model ?? null,
    cwd: row.cwd ?? null,
    tellsWhenIdle: row.peerFeatures?.includes('notify_idle') ?? false,
    address: {
      socketPath: row.messagingSocketPath,
      pid: row.pid,
      procStart: row.procStart ?? null,
      sessionId: row.sessionId ?? null,
    },
    row,
  };
}
