import type { CommanderError } from 'commander';
import { EXIT, errorCode, errorMessage, PeerError } from '../errors.ts';
import { Interrupted } from './interrupt.ts';
import { type Io, ProcessIo, say } from './io.ts';

/** Runs one command as this process: what goes wrong is said in our words, and the exit code tells it too. */
export async function runAndExit(command: (io: Io) => Promise<number>): Promise<never> {
  process.umask(0o077);
  const io = new ProcessIo();
  const exitCode = await command(io).catch((error: unknown) => said(error, io));
  await io.written();
  process.exit(exitCode);
}

/** Says what went wrong, and gives the code that ends the command. */
function said(error: unknown, io: Io): number {
  if (isCommanderError(error)) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof Interrupted) return error.exitCode;
  const isOurs = error instanceof PeerError;
  say(io, isOurs ? error.message : `something went wrong in peer itself: ${errorMessage(error)}`);
  if (process.argv.includes('--debug')) io.stderr.write(`${errorStack(error)}\n`);
  return isOurs ? error.exitCode : EXIT.internal;
}

/** commander has already printed its sentence, or the help that was asked for. */
function isCommanderError(error: unknown): error is CommanderError {
  return errorCode(error)?.startsWith('commander.') ?? false;
}

function errorStack(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${errorStack(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
