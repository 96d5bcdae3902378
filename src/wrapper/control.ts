import { ownControlSocket, sweepControlSockets } from '../control/place.ts';
import { type ControlServer, serveControl } from '../control/server.ts';
import type { Log } from '../os/log.ts';
import type { Peer } from './peer.ts';

/**
 * Opens the peer's control socket and removes those that killed wrappers left.
 * Rejects with PeerError `unsafe-folder` when there is no place for it.
 */
export async function openControl(peer: Peer, log: Log): Promise<ControlServer> {
  await sweepControlSockets();
  return serveControl({
    socketPath: ownControlSocket(process.pid),
    handlers: {
      status: () => peer.status(),
      tool: (params, signal) => peer.toolCall(params, signal),
    },
    log,
  });
}
