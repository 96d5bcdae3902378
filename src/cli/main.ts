import type { CommanderError } from 'commander';
import { EXIT, errorCode, errorMessage, PeerError } from '../errors.ts';
import { Interrupted } from './interrupt.ts';
import { type Io, say } from './io.ts';
import { runProgram } from './program.ts';

process.umask(0o077);
const { env, stdin, stdout, stderr } = process;
const io: Io = { env, stdin, stdout, stderr };

stdout.on('error', onOutputError);
stderr.on('error', onOutputError);

const exitCode = await runProgram(process.argv.slice(2), io).catch(exitCodeOf);
await Promise.all([written(stdout), written(stderr)]);
process.exit(exitCode);

/** Says what went wrong in our words, and with which code that ends the command. */
function exitCodeOf(error: unknown): number {
  if (isCommanderError(error)) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof Interrupted) return error.exitCode;
  const isOurs = error instanceof PeerError;
  say(io, isOurs ? error.message : `something went wrong in peer itself: ${errorMessage(error)}`);
  if (process.argv.includes('--debug')) stderr.write(`${errorStack(error)}\n`);
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

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (!stream.writable) resolve();
    else stream.write('', () => resolve());
  });
}

/** Whoever read our output is gone (`peer list | head -1`): the command goes on in silence. */
function onOutputError(error: Error): void {
  if (errorCode(error) !== 'EPIPE') throw error;
}
