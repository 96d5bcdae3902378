import { randomUUID } from 'node:crypto';
import { EXIT } from '../errors.ts';
import type { Priority } from '../frames/message.ts';
import { isWrapped } from '../registry/kind.ts';
import { type Asked, shortId } from './ending.ts';
import { exchange } from './exchange.ts';
import { Interrupted, interruptible } from './interrupt.ts';
import { type Io, print, say } from './io.ts';
import { findTarget } from './target.ts';
import { messageText } from './text.ts';

/** Sends one message and waits for what becomes of it: the answer goes to stdout, all else to stderr. */
export async function ask(
  name: string,
  argument: string | undefined,
  { priority }: { priority: Priority },
  io: Io,
): Promise<number> {
  const text = await messageText(argument, io);
  const target = await findTarget(io.env, name);
  const asked: Asked = {
    msgId: randomUUID(),
    subscriptionId: isWrapped(target.row) ? null : randomUUID(),
    isMarked: isWrapped(target.row),
    name: target.row.name,
    socketPath: target.row.messagingSocketPath,
  };
  const ending = await interruptible((signal) =>
    exchange({ target, asked, text, priority, until: 'answer', io, signal }),
  ).catch((error: unknown) => {
    if (error instanceof Interrupted)
      say(io, `stopped waiting. The message (id ${shortId(asked)}) is not taken back.`);
    throw error;
  });
  if (ending?.said !== undefined) say(io, ending.said);
  if (ending?.answer !== undefined) print(io.stdout, ending.answer);
  return ending?.exitCode ?? EXIT.noAnswer;
}
