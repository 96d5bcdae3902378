import type { Socket } from 'node:net';
import type { PeerCredentials } from '../os/peer-credentials.ts';
import { listenerOf, peerCredentials } from '../os/peer-credentials.ts';
import { processStart } from '../os/proc.ts';
import { readRow } from '../registry/live.ts';
import { BRIDGE, GUEST_ENTRYPOINT, type Row } from '../registry/row.ts';
import type { ReplyAddress, Sender } from '../store/record.ts';

/** Who connected, read at accept: the process can be gone when its line is read. */
export interface Connecting {
  readonly pid: number;
  /** Null when it had ended before we accepted. */
  readonly procStart: string | null;
  /** Its row, when it publishes one. */
  readonly row: Row | null;
}

/** Asks the kernel and the registry who connected. Null when that cannot be told, or it is not our user. */
export function identify(socket: Socket, sessionsDir: string): Connecting | null {
  const credentials = peerCredentials(socket);
  if (credentials === null || credentials.uid !== process.getuid?.()) return null;
  const procStart = processStart(credentials.pid);
  const row = readRow(sessionsDir, credentials.pid);
  const isOfAnother = procStart !== null && row?.procStart !== undefined && row.procStart !== procStart;
  return { pid: credentials.pid, procStart, row: isOfAnother ? null : row };
}

export type Verified =
  | { readonly sender: Sender; readonly address: ReplyAddress | null }
  | { readonly refusal: 'unknown-process' | 'foreign-address' };

/**
 * Whether a message is from whom it says: the process that connected must be the one that listens on `from`. A
 * sender that is gone by now is still verified when its row named that address; it gets no answer. A message
 * without `from` is taken, and cannot be answered.
 */
export async function verify(from: string | null, connecting: Connecting | null): Promise<Verified> {
  if (connecting === null) return { refusal: 'unknown-process' };
  const { pid, procStart, row } = connecting;
  const sender = { kind: kindOf(row), name: row?.name ?? '', replyTo: null };
  if (from === null) return { sender, address: null };
  const listener = await listenerOf(from);
  if (isSame(listener, connecting)) {
    const address = { socketPath: from, pid, procStart, sessionId: row?.sessionId ?? null };
    return { sender: { ...sender, replyTo: address }, address };
  }
  const hasGone = listener === null && row?.messagingSocketPath === from;
  return hasGone ? { sender, address: null } : { refusal: 'foreign-address' };
}

/**
 * Whether the process of that address connected, or one in which its session goes on. One that had ended before we
 * accepted is known by its pid alone.
 */
export function isFrom(address: ReplyAddress, { pid, procStart, row }: Connecting): boolean {
  if (address.sessionId !== null && row?.sessionId === address.sessionId) return true;
  return pid === address.pid && (procStart ?? address.procStart) === (address.procStart ?? procStart);
}

function isSame(listener: PeerCredentials | null, connecting: Connecting): boolean {
  const { pid, procStart } = connecting;
  return listener?.pid === pid && procStart !== null && processStart(pid) === procStart;
}

function kindOf(row: Row | null): Sender['kind'] {
  if (row === null) return 'script';
  if (row.entrypoint === GUEST_ENTRYPOINT) return 'command';
  return row.bridge === BRIDGE ? 'codex' : 'claude';
}
