import { Argument, Command, Option } from 'commander';
import type { Io } from './io.ts';

/** Takes the exit code of the command that ran. */
type Ends = (exitCode: number) => void;

/** Every command with its help; what it does is loaded when it runs. */
export function commands(io: Io, ends: Ends): Command[] {
  return [
    list(io, ends),
    send(io, ends),
    ask(io, ends),
    open(io, ends),
    close(io, ends),
    mcp(io, ends),
    demo(io, ends),
    version(io, ends),
  ];
}

function list(io: Io, ends: Ends): Command {
  return described('list', 'Show every live peer, Claude Code sessions too.', [
    'peer list',
    'peer list --json | jq -r \'.[] | select(.status == "idle") | .name\'',
  ])
    .option('--json', 'an array of objects, texts as the peers wrote them')
    .action(async (options) => ends(await (await import('./list.ts')).list(options, io)));
}

function send(io: Io, ends: Ends): Command {
  return described('send', 'Write one message to a peer and do not wait for its answer.', [
    'peer send Sol "the build is green again"',
    'git log -1 | peer send Sol --priority later',
  ])
    .addArgument(nameArgument())
    .addArgument(textArgument())
    .addOption(priorityOption())
    .action(async (name, text, options) =>
      ends(await (await import('./send.ts')).send(name, text, options, io)),
    );
}

function ask(io: Io, ends: Ends): Command {
  return described('ask', 'Send one message and print the answer, and nothing else, on stdout.', [
    'peer ask Sol "which test is flaky?"',
    'git diff | peer ask Sol "review this" && echo answered',
  ])
    .addArgument(nameArgument())
    .addArgument(textArgument())
    .addOption(priorityOption())
    .action(async (name, text, options) =>
      ends(await (await import('./ask.ts')).ask(name, text, options, io)),
    );
}

function open(io: Io, ends: Ends): Command {
  return described('open', 'Make a Codex session a peer and show it here.', [
    'peer open Sol --window --sandbox workspace-write',
    'peer open Reviewer --headless --detach --cwd ~/src/app',
  ])
    .argument('<name>', '1–64 letters, digits, blanks, . _ -')
    .option('--headless', 'no Codex screen; one line when ready, stays until closed')
    .option('--detach', 'with --headless: goes on in the background when ready')
    .option('--window', 'in a tmux window of its own')
    .option('--model <model>', "instead of Codex's own choice")
    .option('--effort <effort>', "reasoning effort, instead of Codex's own choice")
    .addOption(sandboxOption())
    .addOption(approvalOption())
    .option('--cwd <folder>', 'working folder of the thread')
    .option('--new', 'a new thread, not the one this name had')
    .option('--thread <uuid>', 'resume this thread')
    .option('--trust', 'tell Codex that this folder is trusted')
    .addOption(new Option('--started-by <how>').choices(['detach', 'window']).hideHelp())
    .action(async (name, options) => ends(await (await import('./open.ts')).open(name, options, io)));
}

function close(io: Io, ends: Ends): Command {
  return described('close', 'End a peer that `peer open` made.', [
    'peer close Sol',
    'peer close Sol && peer open Sol',
  ])
    .addArgument(nameArgument())
    .action(async (name) => ends(await (await import('./close.ts')).close(name, io)));
}

function mcp(io: Io, ends: Ends): Command {
  return described('mcp', 'Serve the tools of a peer over MCP, to the agent that started this.', [
    'codex mcp add peer -- peer mcp',
    'codex mcp add peer --env CLAUDE_CONFIG_DIR="$HOME/.claude-work" -- peer mcp',
  ]).action(async () => ends(await (await import('../mcp/main.ts')).serveMcp(io)));
}

function demo(io: Io, ends: Ends): Command {
  return described(
    'demo',
    'Show the main job on the real Codex with a scripted model: no account, no network.',
    ['peer demo', 'peer demo --codex ~/.local/bin/codex'],
  )
    .option('--codex <file>', 'instead of the codex on PATH')
    .action(async (options) => ends(await (await import('./demo.ts')).demo(options, io)));
}

function version(io: Io, ends: Ends): Command {
  return described('version', 'Show the version of peer and of Node.', [
    'peer version',
    'peer version | head -1',
  ]).action(async () => ends(await (await import('./version.ts')).version(io)));
}

function described(usage: string, description: string, examples: readonly [string, string]): Command {
  const shown = `\nExamples:\n  ${examples.join('\n  ')}`;
  return new Command(usage).description(description).addHelpText('after', shown);
}

function nameArgument(): Argument {
  return new Argument('<name>', 'name of the peer, as `peer list` shows it');
}

function textArgument(): Argument {
  return new Argument('[text]', 'the message; what is piped in is put below it, or is all of it');
}

function priorityOption(): Option {
  return new Option('--priority <when>', 'now: into the running turn; next: a turn of its own; later: last')
    .choices(['now', 'next', 'later'])
    .default('next');
}

function sandboxOption(): Option {
  return new Option('--sandbox <mode>', 'what its commands may write')
    .choices(['read-only', 'workspace-write', 'danger-full-access'])
    .default('read-only');
}

function approvalOption(): Option {
  return new Option('--approval <policy>', 'when Codex asks its person')
    .choices(['never', 'on-request', 'untrusted', 'on-failure'])
    .default('never');
}
