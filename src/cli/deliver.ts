import { PeerError } from '../errors.ts';
import { wrapEnvelope } from '../frames/envelope.ts';
import type { Priority } from '../frames/message.ts';
import { controlFrame, sendFrame, userFrame } from '../frames/send.ts';
import { readToken } from '../registry/key.ts';
import { isAgentShell } from './sender.ts';
import type { Target } from './target.ts';

export interface Outgoing {
  readonly msgId: string;
  readonly text: string;
  readonly priority: Priority;
  readonly fromName: string;
  /** Our socket, or null when no answer can come back. */
  readonly from: string | null;
}

/**
 * Writes one message to the target.
 *
 * @throws PeerError `not-sent`, `maybe-written`
 */
export async function deliver(target: Target, message: Outgoing, env: NodeJS.ProcessEnv): Promise<void> {
  const { msgId, text, priority, fromName, from } = message;
  // What an agent's session asks its person for is not known here, so nothing is claimed.
  const fromMode = isAgentShell(env) ? null : 'prompting';
  const content = wrapEnvelope({ from, fromName, fromMode, hopChain: [], text });
  await write(target, userFrame({ msgId, from, content, priority, mark: { kind: 'message' } }));
}

/** Asks the target for one notice when it is idle or gone. */
export async function subscribe(target: Target, subscriptionId: string, from: string): Promise<void> {
  await write(
    target,
    controlFrame(subscriptionId, { action: 'notify_when_idle', from, fromMode: 'prompting' }),
  );
}

async function write(target: Target, frame: Parameters<typeof sendFrame>[0]['frame']): Promise<void> {
  const { name, pid, messagingSocketPath: socketPath } = target.row;
  const token = readToken(target.places.sessionsDir, socketPath, pid);
  try {
    await sendFrame({ socketPath, token, frame });
  } catch (error) {
    if (!(error instanceof PeerError)) throw error;
    throw new PeerError(error.word, error.message.replaceAll(socketPath, name), { cause: error });
  }
}
