import { Command } from 'commander';
import { EXIT } from '../errors.ts';
import { VERSION } from '../version.ts';
import { commands } from './commands.ts';
import { type Io, linesForTerminal } from './io.ts';

/**
 * Parses the command line and runs the one command it names.
 *
 * @returns the exit code
 * @throws CommanderError after help was shown or the command line was wrong (already said), or what the command threw
 */
export async function runProgram(args: readonly string[], io: Io): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = new Command('peer')
    .description(
      'Coding agents that message each other: list them, send to them, ask them, open a Codex one.',
    )
    .version(VERSION, '-V, --version', 'show the version of peer')
    .option('--debug', 'show where an error came from')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(`peer: ${linesForTerminal(text.replace(/^error: /, ''))}`),
    });
  const ends = (code: number) => {
    exitCode = code;
  };
  for (const command of commands(io, ends)) program.addCommand(command.copyInheritedSettings(program));
  await program.parseAsync(args, { from: 'user' });
  return exitCode;
}
