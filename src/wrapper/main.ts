import { setTimeout as sleep } from 'node:timers/promises';
import { PeerError } from '../errors.ts';
import { Disposer } from '../os/disposer.ts';
import { forTerminal, shellWord } from '../os/terminal.ts';
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
    sayFolder(options, opened, terminal);
    sayTools(options, opened, terminal);
    if (options.headless) options.stdout.write(`${ready(options, opened)}\n`);
    else await terminal.attach(opened.thread, opened.log, end);
    const cause = await end.cause;
    opened.log.write('close', { cause });
    terminal.say(`${options.name} is closed: ${cause}.`);
    return end.exitCode;
  } catch (error) {
    throw end.first === null ? error : notOpened(options.name, end.first);
  } finally {
    for (const error of await disposer.run()) terminal.say(`peer: while closing: ${error.message}`);
    offSignals();
    if (terminal.isGone) await endByHangup();
  }
}

/**
 * Node 20 aborts with a core dump when it exits on a terminal that was hung up (it cannot restore the modes), so the
 * process ends as one without a SIGHUP handler would have ended.
 */
async function endByHangup(): Promise<void> {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
  await sleep(1_000);
}

/** A thread keeps its folder; who opens it elsewhere may expect another. */
function sayFolder({ name, cwd }: OpenOptions, { peer }: OpenPeer, terminal: Terminal): void {
  const folder = peer.settings?.cwd;
  if (cwd !== undefined || folder === undefined || folder === process.cwd()) return;
  terminal.say(`${name} works in ${forTerminal(folder)}, where its thread was; --cwd moves it.`);
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
