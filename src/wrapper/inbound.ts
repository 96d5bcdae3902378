import { randomUUID } from 'node:crypto';
import { isLoop } from '../frames/hops.ts';
import type { InboundMessage } from '../frames/message.ts';
import type { Log } from '../os/log.ts';
import type { ReplayWindow } from '../queue/replay.ts';
import { readRows } from '../registry/live.ts';
import { BRIDGE, GUEST_ENTRYPOINT, type Row } from '../registry/row.ts';
import type { Message, Sender } from '../store/record.ts';

export interface InboundOptions {
  readonly sessionsDir: string;
  /** Our own hop token. */
  readonly hopToken: string;
  readonly replay: ReplayWindow;
  readonly log: Log;
  readonly receive: (message: Message) => void;
}

/**
 * Takes a message whose auth line was right: looks up who listens on its `from`, and records it. A replayed frame
 * or a hop loop is dropped with a log line.
 */
export async function takeMessage(frame: InboundMessage, options: InboundOptions): Promise<void> {
  const { log, replay, hopToken, receive } = options;
  const loop = isLoop(frame.hopChain, hopToken);
  if (loop !== null) return log.write('dropped', { reason: loop, msgId: frame.msgId });
  if (replay.isReplay(frame.from, frame.msgId)) {
    return log.write('dropped', { reason: 'replay', msgId: frame.msgId });
  }
  const sender = await senderOf(frame.from, options.sessionsDir);
  receive({
    id: randomUUID(),
    msgId: frame.msgId,
    text: frame.text,
    priority: frame.priority,
    mark: frame.mark?.kind ?? null,
    inReplyTo: frame.mark?.in_reply_to ?? null,
    hopChain: frame.hopChain,
    sender,
  });
  replay.remember(frame.from, frame.msgId);
}

const UNNAMED: Sender = { kind: 'script', name: '', replyTo: null };

/** The sender as the registry names it: the live row whose socket is the frame's `from`. */
async function senderOf(from: string | null, sessionsDir: string): Promise<Sender> {
  if (from === null) return UNNAMED;
  const rows = await readRows(sessionsDir);
  const row = rows.find((one) => one.messagingSocketPath === from);
  if (row === undefined) return UNNAMED;
  const { pid, procStart = null, sessionId = null } = row;
  return { kind: kindOf(row), name: row.name, replyTo: { socketPath: from, pid, procStart, sessionId } };
}

function kindOf(row: Row): Sender['kind'] {
  if (row.entrypoint === GUEST_ENTRYPOINT) return 'command';
  return row.bridge === BRIDGE ? 'codex' : 'claude';
}
