import { LIMITS } from '../limits.ts';
import type { Log } from '../os/log.ts';
import type { Message } from '../store/record.ts';
import { framed } from './framing.ts';
import { excerpt, spill } from './spill.ts';

interface GivenOptions {
  readonly isPaneOpen: () => boolean;
  readonly textsDir: string;
  readonly log: Log;
}

/** The user text that a message becomes. A long one would freeze an open pane, so only its beginning is in it then. */
export function givenText(message: Message, { isPaneOpen, textsDir, log }: GivenOptions): string {
  const isLong = Buffer.byteLength(message.text) > LIMITS.paneBodyBytes;
  if (!isLong || !isPaneOpen()) return framed(message);
  try {
    const file = spill(textsDir, `message-${message.id}`, message.text);
    return framed(message, excerpt(message.text, file, LIMITS.paneBodyHeadBytes));
  } catch (error) {
    // Slow in the pane, but whole.
    log.write('spill-failed', { id: message.id, error: String(error) });
    return framed(message);
  }
}
