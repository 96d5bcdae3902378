import { fstatSync } from 'node:fs';
import { PeerError } from '../errors.ts';
import { type Io, say } from './io.ts';

const STDIN = 0;
/** A pipe that says nothing for this long is pointed out: the command may wait for it by mistake. */
const SILENT_PIPE_MS = 2_000;

/**
 * The text of a message: the argument, stdin, or both, the piped text below the argument.
 * Stdin is read when the argument is `-` or absent, and beside an argument when a pipe or file stands there.
 * One newline at its end is the shell's and is taken off.
 *
 * @throws PeerError `usage` when there is no text
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
  const chunks: Buffer[] = [];
  for await (const chunk of io.stdin) {
    clearTimeout(warning);
    chunks.push(Buffer.from(chunk));
  }
  clearTimeout(warning);
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

function sayWaiting(io: Io): void {
  say(io, 'reading the message from stdin (`< /dev/null` when it has none)');
}
