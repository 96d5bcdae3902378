import type { CommanderError } from 'commander';
import { EXIT, errorCode, errorMessage, PeerError } from '../errors.ts';
import { Interrupted } from './interrupt.ts';
import { ProcessIo, say } from './io.ts';

process.umask(0o077);
const io = new ProcessIo();

const exitCode = await run(process.argv.slice(2)).catch(exitCodeOf);
await io.written();
process.exit(exitCode);

/** Scripts and prompts call `list` all the time: it starts without the parser, which costs 6 ms of Node's 60. */
async function run(args: readonly string[]): Promise<number> {
  const [command, ...flags] = args;
  const isPlainList = command === 'list' && flags.every((flag) => flag === '--json');
  if (isPlainList) return (await import('./list.ts')).list({ json: flags.length > 0 }, io);
  return (await import('./program.ts')).runProgram(args, io);
}

/** Says what went wrong in our words, and with which code that ends the command. */
function exitCodeOf(error: unknown): number {
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
