import { accessSync, constants, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadStream, WriteStream } from 'node:tty';
import { PeerError } from '../errors.ts';
import type { PaneCommand } from '../harness/harness.ts';
import { endFamily } from './pane-end.ts';
import { openInherited, requireSessionLeader } from './pane-inherit.ts';
import { readProcess } from './pane-processes.ts';
import { loadNodePty, openOnPty } from './pane-pty.ts';

/** A harness's own terminal interface (TUI), running in the foreground of our terminal. */
export interface Pane {
  readonly pid: number;
  /** Resolves once, when the TUI is gone, its last output is shown and the terminal's modes are restored. */
  readonly exited: Promise<PaneExit>;
  /** Ends the TUI with everything it started and resolves when all of it is gone. Never rejects. */
  end(): Promise<void>;
}

/** What the two ways to start a TUI give. */
export type PaneProcess = Pick<Pane, 'pid' | 'exited'>;

export interface PaneExit {
  readonly code: number | null;
  /** Name of the signal that killed it (`SIGKILL`). */
  readonly signal: string | null;
}

export interface PaneOptions {
  readonly stdin: ReadStream & { readonly fd: number };
  readonly stdout: WriteStream & { readonly fd: number };
  readonly log: { write(event: string, fields: Record<string, unknown>): void };
  /** Ends the pane. */
  readonly signal?: AbortSignal;
}

/** A TUI that is gone is waited for this long: its last output and the modes, on a terminal that may be stuck. */
const LAST_OUTPUT_MS = 3_000;

/** Held while a TUI lives. Not SIGTTOU: with a handler libuv's `tcsetattr` would retry for ever. */
const HELD_SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTSTP'] as const;

/**
 * Looks whether this terminal can have a pane, before a peer is published that would only be closed again.
 *
 * @throws PeerError `pane-unavailable`, as `openPane` does
 */
export async function requirePane(options: Pick<PaneOptions, 'stdin' | 'stdout'>): Promise<void> {
  requireTerminal(options);
  const nodePty = await loadNodePty();
  if ('whyNot' in nodePty) requireSessionLeader(nodePty.whyNot);
}

/**
 * Starts the TUI in our terminal: on a pty of its own where node-pty can be loaded, else on the terminal itself.
 * Until it has exited the terminal is its own; SIGINT, SIGQUIT and SIGTSTP then have no effect on this process
 * (a listener of the caller's own still runs and must do nothing).
 *
 * @throws PeerError `pane-unavailable`: no terminal, the command cannot be run, or without node-pty the TUI
 *   would share a job with us, so that Ctrl-Z stopped the peer.
 */
export async function openPane(command: PaneCommand, options: PaneOptions): Promise<Pane> {
  requireTerminal(options);
  requireRunnable(command);
  const releaseSignals = holdSignals();
  try {
    const onPty = await openOnPty(command, options);
    const isOnPty = !('whyNot' in onPty);
    const tui = isOnPty ? onPty : await openInherited(command, options, onPty.whyNot);
    void tui.exited.then(releaseSignals);
    options.log.write('pane-opened', { pid: tui.pid, onPty: isOnPty, ...(isOnPty ? {} : onPty) });
    return endable(tui, options.signal);
  } catch (error) {
    releaseSignals();
    throw error;
  }
}

function requireTerminal({ stdin, stdout }: Pick<PaneOptions, 'stdin' | 'stdout'>): void {
  if (!stdin.isTTY || !stdout.isTTY) {
    throw new PeerError(
      'pane-unavailable',
      'A pane needs a terminal, and input or output is none. Open the peer with --headless, or in a terminal.',
    );
  }
  const self = readProcess(process.pid);
  // A background job is stopped as soon as it changes the terminal's modes.
  if (self && self.foreground !== self.group) {
    throw new PeerError(
      'pane-unavailable',
      'A pane needs the foreground of its terminal, and this is a background job. ' +
        'Open the peer without "&", or with --headless.',
    );
  }
}

/** Said here, since node-pty would print it into the terminal and exit as if the TUI had crashed. */
function requireRunnable({ file, cwd }: PaneCommand): void {
  try {
    accessSync(file, constants.X_OK);
  } catch (error) {
    throw new PeerError('pane-unavailable', `The pane's program cannot be run: ${file}`, { cause: error });
  }
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new PeerError(
      'pane-unavailable',
      `The thread's folder is gone: ${cwd}. Make it again, open the peer with --cwd, or with --headless.`,
    );
  }
}

function holdSignals(): () => void {
  const ignore = () => {};
  for (const signal of HELD_SIGNALS) process.on(signal, ignore);
  return () => {
    for (const signal of HELD_SIGNALS) process.off(signal, ignore);
  };
}

function endable({ pid, exited }: PaneProcess, signal: AbortSignal | undefined): Pane {
  const leader = readProcess(pid);
  let ending: Promise<void> | undefined;
  const lastOutput = () =>
    Promise.race([exited.then(() => {}), sleep(LAST_OUTPUT_MS, undefined, { ref: false })]);
  const end = () => {
    ending ??= (leader ? endFamily(leader) : Promise.resolve()).then(lastOutput);
    return ending;
  };
  if (signal?.aborted) void end();
  signal?.addEventListener('abort', end, { once: true });
  void exited.then(() => signal?.removeEventListener('abort', end));
  return { pid, exited, end };
}
