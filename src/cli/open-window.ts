import { EXIT, PeerError } from '../errors.ts';
import { findCodex } from '../harness/codex-binary.ts';
import { liveRows } from '../registry/live.ts';
import { sameName } from '../registry/names.ts';
import { places } from '../registry/places.ts';
import { type Row, whereIs } from '../registry/row.ts';
import { codexNotFound } from '../rpc/daemon.ts';
import type { OpenOptions } from '../wrapper/options.ts';
import { openWindow } from '../wrapper/window.ts';
import { type Io, print } from './io.ts';
import { openAgain } from './open-again.ts';

/**
 * Opens the peer in a tmux window of its own and says where. What can be known before is asked before: tmux shows
 * little of an error in a window that ends.
 *
 * @throws PeerError `name-taken`, `codex-not-found`, `pane-unavailable`
 */
export async function openInWindow(options: OpenOptions, io: Io): Promise<number> {
  const { name, env, cwd = process.cwd() } = options;
  if (findCodex(env) === null) throw codexNotFound();
  const other = (await liveRows(places(env).sessionsDir)).find((row) => sameName(row.name, name));
  if (other !== undefined) throw taken(other, name);
  const { session, window } = await openWindow({ name, env, cwd, argv: openAgain(options, 'window') });
  print(io.stdout, `${name} opens in tmux window ${session}:${window}`);
  return EXIT.ok;
}

function taken(other: Row, name: string): PeerError {
  return new PeerError(
    'name-taken',
    `${name} is already open: ${whereIs(other)}. Go there, close it (peer close), or choose another name.`,
  );
}
