import { Argument, Command, Option } from 'commander';
import { EXIT } from '../errors.ts';
import { type Io, linesForTerminal } from './io.ts';

const PRIORITIES = ['now', 'next', 'later'];

/**
 * Parses the command line and runs the one command it names; each command is loaded only when it runs.
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
    .option('--debug', 'show where an error came from')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(`peer: ${linesForTerminal(text.replace(/^error: /, ''))}`),
    });

  const command = (usage: string, description: string, examples: readonly [string, string]): Command =>
    program
      .command(usage)
      .description(description)
      .addHelpText('after', `\nExamples:\n  ${examples.join('\n  ')}`);
  const ends =
    <A extends unknown[]>(run: (...args: A) => Promise<number>) =>
    async (...args: A) => {
      exitCode = await run(...args);
    };

  command('list', 'Show every live peer, Claude Code sessions too.', [
    'peer list',
    'peer list --json | jq -r \'.[] | select(.status == "idle") | .name\'',
  ])
    .option('--json', 'an array of objects, texts as the peers wrote them')
    .action(ends(async (options) => (await import('./list.ts')).list(options, io)));

  command('send', 'Write one message to a peer and do not wait for its answer.', [
    'peer send Sol "the build is green again"',
    'git log -1 | peer send Sol - --priority later',
  ])
    .argument('<name>', 'name of the peer, as `peer list` shows it')
    .addArgument(textArgument())
    .addOption(priorityOption())
    .action(ends(async (name, text, options) => (await import('./send.ts')).send(name, text, options, io)));

  command('ask', 'Send one message and print the answer, and nothing else, on stdout.', [
    'peer ask Sol "which test is flaky?"',
    'git diff | peer ask Sol "review this" && echo answered',
  ])
    .argument('<name>', 'name of the peer, as `peer list` shows it')
    .addArgument(textArgument())
    .addOption(priorityOption())
    .action(ends(async (name, text, options) => (await import('./ask.ts')).ask(name, text, options, io)));

  command('open', 'Make a Codex session a peer and show it here.', [
    'peer open Sol --window --sandbox workspace-write',
    'peer open Reviewer --headless --detach --cwd ~/src/app',
  ])
    .argument('<name>', '1–64 letters, digits, blanks, . _ -')
    .option('--headless', 'no Codex screen; one line when ready, stays until closed')
    .option('--detach', 'with --headless: goes on in the background when ready')
    .option('--window', 'in a tmux window of its own')
    .option('--model <model>', "instead of Codex's own choice")
    .option('--effort <effort>', "reasoning effort, instead of Codex's own choice")
    .addOption(
      new Option('--sandbox <mode>', 'what its commands may write')
        .choices(['read-only', 'workspace-write', 'danger-full-access'])
        .default('read-only'),
    )
    .addOption(
      new Option('--approval <policy>', 'when Codex asks its person')
        .choices(['never', 'on-request', 'untrusted', 'on-failure'])
        .default('never'),
    )
    .option('--cwd <folder>', 'working folder of the thread')
    .option('--new', 'a new thread, not the one this name had')
    .option('--thread <uuid>', 'resume this thread')
    .option('--trust', 'tell Codex that this folder is trusted')
    .addOption(new Option('--started-by <how>').choices(['detach', 'window']).hideHelp())
    .action(ends(async (name, options) => (await import('./open.ts')).open(name, options, io)));

  command('close', 'End a peer that `peer open` made.', ['peer close Sol', 'peer close Sol && peer open Sol'])
    .argument('<name>', 'name of the peer')
    .action(ends(async (name) => (await import('./close.ts')).close(name, io)));

  command('demo', 'Show the main job on the real Codex with a scripted model: no account, no network.', [
    'peer demo',
    'peer demo --codex ~/.local/bin/codex',
  ])
    .option('--codex <file>', 'instead of the codex on PATH')
    .action(ends(async (options) => (await import('./demo.ts')).demo(options, io)));

  command('version', 'Show the version of peer and of Node.', [
    'peer version',
    'peer version | head -1',
  ]).action(ends(async () => (await import('./version.ts')).version(io)));

  await program.parseAsync(args, { from: 'user' });
  return exitCode;
}

function textArgument(): Argument {
  return new Argument('[text]', 'the message; - or nothing reads it from stdin');
}

function priorityOption(): Option {
  return new Option('--priority <when>', 'now: into the running turn; next: a turn of its own; later: last')
    .choices(PRIORITIES)
    .default('next');
}
