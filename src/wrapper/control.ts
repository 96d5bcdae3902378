import { controlFolders, ownControlSocket, sweepControlSockets } from '../control/place.ts';
import { type ControlServer, serveControl } from '../control/server.ts';
import { PeerError } from '../errors.ts';
import type { Log } from '../os/log.ts';
import type { Peer } from './peer.ts';

/**
 * Opens the peer's control socket and removes those that killed wrappers left. Null, told with `say`, when none of
 * the folders can be used: another user can make the one in /tmp first, and a peer serves without it too.
 */
export async function openControl(
  peer: Peer,
  log: Pick<Log, 'write'>,
  say: (text: string) => void,
  folders: readonly string[] = controlFolders(),
): Promise<ControlServer | null> {
  await sweepControlSockets(folders);
  try {
    return await serveControl({
      socketPath: ownControlSocket(process.pid, folders),
      handlers: {
        status: () => peer.status(),
        tool: (params, signal) => peer.toolCall(params, signal),
      },
      log,
    });
  } catch (error) {
    if (!(error instanceof PeerError) || error.word !== 'unsafe-folder') throw error;
    log.write('no-control', { error: error.message });
    say(withoutControl(peer.status().name, folders));
    return null;
  }
}

function withoutControl(name: string, folders: readonly string[]): string {
  const why = `neither of ${folders.join(' and ')} can be its private folder`;
  return `\`peer mcp\` cannot reach ${name}: ${why}. See whose they are with: ls -ld ${folders.join(' ')}`;
}
