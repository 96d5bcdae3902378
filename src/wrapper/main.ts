import { EXIT, PeerError } from '../errors.ts';
import { Disposer } from '../os/disposer.ts';
import { shellWord } from '../os/terminal.ts';
import { endOnSignals, endRace } from './end.ts';
import { type OpenPeer, open } from './opening.ts';
import type { OpenOptions } from './options.ts';
import { requirePane } from './pane.ts';
import { Terminal } from './terminal.ts';
import { TOOLS_WAY, toolsRemedy } from './tools-way.ts';

/**
 * One peer from `peer open` to its end: open, serve, close. Resolves with the exit code when row, key, socket and
 * TUI are gone.
 *
 * @throws PeerError when it could not be opened; nothing of it is left then
 */
export async function openPeer(options: OpenOptions): Promise<number> {
  const end = endRace();
  const disposer = new Disposer();
  const terminal = new Terminal(options);
  const offSignals = endOnSignals(end, () => terminal.isPaneOpen);
  try {
    if (!options.headless) await requirePane(options);
    const opened = await open(options, end, disposer, terminal);
    if (opened.replacedThreadId !== null) terminal.say(replaced(options.name, opened.replacedThreadId));
    sayTools(options, opened, terminal);
    if (options.headless) options.stdout.write(`${ready(options, opened)}\n`);
    else await terminal.attach(opened.thread, opened.log, end);
    const cause = await end.cause;
    opened.log.write('close', { cause });
    terminal.say(`${options.name} is closed: ${cause}.`);
    return EXIT.ok;
  } catch (error) {
    throw end.first === null ? error : notOpened(options.name, end.first);
  } finally {
    for (const error of await disposer.run()) terminal.say(`peer: while closing: ${error.message}`);
    offSignals();
  }
}

/** A headless peer's ready line has it too; what a pane shows comes after this line. */
function sayTools({ name, headless }: OpenOptions, { tools }: OpenPeer, terminal: Terminal): void {
  if (tools === 'none') terminal.say(toolsRemedy(name));
  else if (!headless) terminal.say(`${name}'s tools for messages: ${TOOLS_WAY[tools]}.`);
}

function ready({ name, detach }: OpenOptions, { thread, tools }: OpenPeer): string {
  const how = detach ? 'in the background' : 'headless';
  const what = `pid ${process.pid}, thread ${thread.id}, tools: ${TOOLS_WAY[tools]}`;
  return `${name} is open, ${how} (${what}). Close it with: peer close ${shellWord(name)}`;
}

function replaced(name: string, threadId: string): string {
  return `${name} has another thread now. The one before is kept: peer open ${shellWord(name)} --thread ${threadId}`;
}

function notOpened(name: string, cause: string): PeerError {
  return new PeerError('interrupted', `${name} was not opened: ${cause}. Nothing of it is left.`);
}
