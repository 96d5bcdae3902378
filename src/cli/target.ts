import { PeerError } from '../errors.ts';
import { findPeer } from '../registry/find.ts';
import { harnessOf } from '../registry/kind.ts';
import { isReachable, liveRows } from '../registry/live.ts';
import { type Places, places } from '../registry/places.ts';
import { isListed, type Row, whereIs } from '../registry/row.ts';

/** A peer that takes messages now, and what stands around it. */
export interface Target {
  readonly row: Row & { readonly messagingSocketPath: string };
  readonly places: Places;
  /** Every live row, the target's too. */
  readonly rows: readonly Row[];
}

/**
 * Finds the one live peer of that name and makes sure that it takes connections.
 *
 * @throws PeerError `no-such-peer`, `ambiguous-peer`, `not-sent` (it cannot be reached), `refused` (not a session),
 * `folder-unreadable`
 */
export async function findTarget(env: NodeJS.ProcessEnv, name: string): Promise<Target> {
  const at = places(env);
  const rows = await liveRows(at.sessionsDir);
  const row = findPeer(rows, name);
  if (!isListed(row)) {
    throw new PeerError('not-sent', `Not sent: ${row.name} is still opening. Try again in a moment.`);
  }
  if (harnessOf(row) === 'cli') {
    throw new PeerError(
      'refused',
      `Not sent: ${row.name} is a command that waits for an answer, not a session.`,
    );
  }
  if (await isReachable(row)) return { row, places: at, rows };
  const fix = 'Its process is stopped (`fg` in its window lets it go on) or hangs.';
  throw new PeerError('not-sent', `Not sent: ${row.name} (${whereIs(row)}) takes no connections. ${fix}`);
}
