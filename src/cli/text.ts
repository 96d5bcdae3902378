import { fstatSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { PeerError } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { type Io, say } from './io.ts';

const STDIN = 0;
/** A pipe that says nothing for this long is pointed out: the command may wait for it by mistake. */
const SILENT_PIPE_MS = 2_000;

/**
 * The text of a message: the argument, stdin, or both, the piped text below the argument.
 * Stdin is read when the argument is `-` or absent, and beside an argument when a pipe or file stands there.
 * One newline at its end is the shell's and is taken off.
 *
 * @throws PeerError `usage` when there is no text, `not-sent` when stdin holds more than one message can
 */
export async function messageText(argument: string | undefined, io: Io): Promise<string> {
  const typed = argument === '-' ? '' : (argument ?? '');
  const isStdinMeant = argument === '-' || (argument === undefined && !io.stdin.isTTY);
  const piped = isStdinMeant || isPipeOrFile(STDIN) ? await readAll(io) : '';
  const text = [typed, piped].filter((part) => part.trim() !== '').join('\n\n');
  if (text !== '') return text;
  throw new PeerError(
    'usage',
    'There is no text to send.\nGive it as an argument, or pipe it in: git diff | peer ask Sol -',
  );
}

/** A socket or /dev/null is what a program without input gets, so it is not read beside an argument. */
function isPipeOrFile(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isFIFO() || stats.isFile();
  } catch {
    return false;
  }
}

async function readAll(io: Io): Promise<string> {
  const warning = setTimeout(sayWaiting, SILENT_PIPE_MS, io);
  const decoder = new StringDecoder('utf8');
  let text = '';
  for await (const chunk of io.stdin) {
    clearTimeout(warning);
    text += decoder.write(Buffer.from(chunk));
    // Its writer may never end: `peer send Sol < /dev/zero`.
    if (text.length > LIMITS.frameChars) throw tooLong();
  }
  clearTimeout(warning);
  return (text + decoder.end()).replace(/\r?\n$/, '');
}

function tooLong(): PeerError {
  return new PeerError(
    'not-sent',
    `Not sent: the message is over ${LIMITS.frameChars} characters, which is what a peer takes with its framing. ` +
      'Put the text in a file and send its path.',
  );
}

function sayWaiting(io: Io): void {
  say(io, 'reading the message from stdin (`< /dev/null` when it has none)');
}
