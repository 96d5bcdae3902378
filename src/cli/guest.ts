import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import type { InboundControl, InboundMessage } from '../frames/message.ts';
import { serveFrames } from '../frames/serve.ts';
import { ensurePrivateDir } from '../os/folders.ts';
import { loadPeerCredentials } from '../os/peer-credentials.ts';
import { pidDomain, processStart } from '../os/proc.ts';
import { newToken } from '../registry/key.ts';
import { type Places, socketPath } from '../registry/places.ts';
import { Publication } from '../registry/publish.ts';
import { BRIDGE, GUEST_ENTRYPOINT, type Row } from '../registry/row.ts';
import { type Connecting, identify } from '../wrapper/verify.ts';

export interface GuestOptions {
  readonly places: Places;
  readonly name: string;
  /** `from` is who connected; null when the kernel does not say. */
  readonly onMessage: (message: InboundMessage, from: Connecting | null) => Promise<void>;
  readonly onControl: (control: InboundControl, from: Connecting | null) => Promise<void>;
}

/** This command as a peer that others can answer. */
export interface Guest {
  /** The socket it listens on, which is its address. */
  readonly socketPath: string;
  /** Takes row, key and socket away. */
  close(): Promise<void>;
}

/**
 * Makes this command a peer for a moment: socket, key, and the row last, so that whoever sees it can write to it.
 * Messages without the token of its key are ignored.
 *
 * @throws PeerError `unsafe-folder` when the socket folder is not ours alone
 */
export async function openGuest({ places, name, onMessage, onControl }: GuestOptions): Promise<Guest> {
  const token = newToken();
  const path = socketPath(places, process.pid);
  ensurePrivateDir(dirname(path));
  const server = await serveFrames<Connecting>({
    socketPath: path,
    token,
    // At the first connection: what it costs is paid when the message is on its way.
    identify: (socket) => {
      loadPeerCredentials();
      return identify(socket, places.sessionsDir);
    },
    onMessage: (message, { peer }) => onMessage(message, peer),
    onControl: (control, { peer }) => onControl(control, peer),
    onRefused: () => {},
    log: { write: () => {} },
  });
  try {
    const publication = Publication.open({ places, row: guestRow(name, path), token });
    return {
      socketPath: path,
      async close() {
        publication.withdrawRow();
        publication.withdrawKey();
        await server.close();
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** Without `notify_idle`: nobody can wait for the end of a command. */
function guestRow(name: string, path: string): Row {
  const nowMs = Date.now();
  return {
    pid: process.pid,
    sessionId: randomUUID(),
    cwd: process.cwd(),
    startedAt: nowMs,
    procStart: processStart(process.pid) ?? undefined,
    peerProtocol: 1,
    peerFeatures: ['reply_across_default_dirs'],
    kind: 'interactive',
    entrypoint: GUEST_ENTRYPOINT,
    pidDomain: pidDomain(),
    messagingSocketPath: path,
    name,
    nameSource: 'user',
    nameSince: nowMs,
    status: 'busy',
    updatedAt: nowMs,
    statusUpdatedAt: nowMs,
    bridge: BRIDGE,
  };
}
