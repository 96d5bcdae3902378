import { randomUUID } from 'node:crypto';
import { EXIT } from '../errors.ts';
import type { Priority } from '../frames/message.ts';
import { isWrapped } from '../registry/kind.ts';
import { deliver } from './deliver.ts';
import { type Asked, shortId } from './ending.ts';
import { exchange } from './exchange.ts';
import { interruptible } from './interrupt.ts';
import { type Io, print, say } from './io.ts';
import { senderName } from './sender.ts';
import { findTarget } from './target.ts';
import { messageText } from './text.ts';

/**
 * Writes one message and tells what is known of it then. A Claude Code session may send a receipt, which needs
 * somebody to send it to; a wrapped peer settles everything by itself.
 */
export async function send(
  name: string,
  argument: string | undefined,
  { priority }: { priority: Priority },
  io: Io,
): Promise<number> {
  const { env } = io;
  const text = await messageText(argument, io);
  const target = await findTarget(env, name);
  const { row } = target;
  const msgId = randomUUID();
  if (isWrapped(row)) {
    const fromName = senderName(env, target.rows, process.pid);
    await deliver(target, { msgId, text, priority, fromName, from: null }, env);
  } else {
    const asked: Asked = {
      msgId,
      subscriptionId: null,
      isMarked: true,
      name: row.name,
      socketPath: row.messagingSocketPath,
    };
    const ending = await interruptible((signal) =>
      exchange({ target, asked, text, priority, until: 'receipt', io, signal }),
    );
    if (ending?.said !== undefined) say(io, ending.said);
    if (ending !== null) return ending.exitCode;
  }
  print(io.stdout, `written to ${row.name} (id ${shortId({ msgId })})`);
  return EXIT.ok;
}
