import { closeSync, constants, openSync } from 'node:fs';
import { constants as os } from 'node:os';
import type { WriteStream } from 'node:tty';
import { errorMessage } from '../errors.ts';
import type { PaneCommand } from '../harness/harness.ts';
import { closeOnExec } from '../os/libc.ts';
import type { PaneExit, PaneOptions, PaneProcess } from './pane.ts';
import { PaneWriter } from './pane-writer.ts';
import { openOutput, RESET_SCREEN, TerminalModes } from './terminal-modes.ts';

/** How long the last output may take on a slow terminal. */
const FLUSH_MS = 1_000;

/** What is used of node-pty 1.1.0. Its own types are missing where the optional package could not be built. */
interface NodePty {
  spawn(file: string, args: readonly string[], options: object): PtyProcess;
}

interface PtyProcess {
  readonly pid: number;
  /** The master side, non-blocking. */
  readonly fd: number;
  /** Path of the slave side. */
  readonly ptsName: string;
  pause(): void;
  resume(): void;
  resize(cols: number, rows: number): void;
  on(event: 'data', listener: (chunk: Buffer) => void): void;
  on(event: 'error', listener: (error: Error) => void): void;
  on(event: 'close', listener: () => void): void;
  on(event: 'exit', listener: (code: number, signal: number) => void): void;
}

/**
 * Runs the TUI on a pty of its own and passes bytes through unchanged, both ways. There it leads a session whose
 * process group is orphaned, so no Ctrl-Z can stop it, and the keys of our terminal reach nobody else.
 *
 * @returns why there is no pty, with the terminal as it was, when node-pty cannot be loaded or cannot start it
 */
export async function openOnPty(
  command: PaneCommand,
  options: PaneOptions,
): Promise<PaneProcess | { whyNot: string }> {
  const nodePty = await loadNodePty();
  if ('whyNot' in nodePty) return nodePty;
  const modes = await TerminalModes.save(options.stdin.fd);
  await modes.makeRaw();
  try {
    return passThrough(start(nodePty, command, options.stdout), modes, options);
  } catch (error) {
    await modes.restore();
    return { whyNot: `node-pty cannot start a program (${firstLine(error)})` };
  }
}

export async function loadNodePty(): Promise<NodePty | { whyNot: string }> {
  // No literal: compiler and bundler have to do without the package.
  const name: string = 'node-pty';
  try {
    const module = (await import(name)) as NodePty & { default?: NodePty };
    return module.default ?? module;
  } catch (error) {
    return { whyNot: `node-pty cannot be loaded (${firstLine(error)})` };
  }
}

function start(nodePty: NodePty, { file, args, cwd, env }: PaneCommand, stdout: WriteStream): PtyProcess {
  // An undefined value would arrive as the word "undefined".
  const definedEnv = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
  const pty = nodePty.spawn(file, args, { ...sizeOf(stdout), cwd, env: definedEnv, encoding: null });
  // node-pty 1.1.0 leaves the master open for our children: a Codex daemon that we start would hold it, could type
  // into the pane, and would keep the TUI alive after us.
  closeOnExec(pty.fd);
  return pty;
}

function passThrough(pty: PtyProcess, modes: TerminalModes, options: PaneOptions): PaneProcess {
  const { stdin, stdout, log } = options;
  const output = openOutput(stdout);
  const releaseSlave = holdSlave(pty);
  const toTerminal = new PaneWriter(output.fd, pty);
  const toTui = new PaneWriter(pty.fd, stdin);

  pty.on('data', (chunk) => toTerminal.write(chunk));
  pty.on('error', (error) => log.write('pane-pty-error', { message: error.message }));
  pty.on('close', onPtyClosed);
  stdin.on('data', onInput).on('end', onHangup).on('error', onHangup).resume();
  stdout.on('resize', onResize);
  process.on('SIGCONT', onContinued);

  const ended = new Promise<PaneExit>((resolve) => {
    pty.on('exit', (code, signal) =>
      resolve(signal ? { code: null, signal: nameOf(signal) } : { code, signal: null }),
    );
  });
  return { pid: pty.pid, exited: ended.then(finish) };

  function onInput(chunk: Buffer): void {
    toTui.write(chunk);
  }

  function onResize(): void {
    const { cols, rows } = sizeOf(stdout);
    pty.resize(cols, rows);
  }

  /** A shell that stopped us has set its own modes and written over the screen. */
  async function onContinued(): Promise<void> {
    await modes.makeRaw().catch(() => {});
    signalTui('SIGWINCH');
  }

  /** The terminal is gone: what its kernel tells its own foreground job is passed on. */
  function onHangup(): void {
    signalTui('SIGHUP');
  }

  function signalTui(signal: NodeJS.Signals): void {
    try {
      process.kill(pty.pid, signal);
    } catch {
      // Ended, and its exit is on the way.
    }
  }

  /** From here on `pty.fd` may be another file's. */
  function onPtyClosed(): void {
    toTui.stop();
    releaseSlave();
    stdin.off('data', onInput).off('end', onHangup).off('error', onHangup).pause();
    stdout.off('resize', onResize);
    process.off('SIGCONT', onContinued);
  }

  async function finish(exit: PaneExit): Promise<PaneExit> {
    // node-pty drops what a paused pty still holds, such as the TUI's own farewell to the terminal.
    const isOutputCut = toTerminal.isFull;
    if (exit.code !== 0 || isOutputCut) toTerminal.write(Buffer.from(RESET_SCREEN));
    await toTerminal.flushed(FLUSH_MS);
    toTerminal.stop();
    output.close();
    await modes.restore();
    return exit;
  }
}

/**
 * Without an open slave side the TUI's exit hangs the pty up, and libuv then takes the first read, 4 kB on Linux,
 * for the last. With it node-pty reads on for 200 ms after the exit.
 */
function holdSlave(pty: PtyProcess): () => void {
  const fd = openSync(pty.ptsName, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
  return () => closeSync(fd);
}

function sizeOf(stdout: WriteStream): { cols: number; rows: number } {
  return { cols: stdout.columns || 80, rows: stdout.rows || 24 };
}

function nameOf(signal: number): string {
  const known = Object.entries(os.signals).find(([, number]) => number === signal);
  return known ? known[0] : `signal ${signal}`;
}

function firstLine(error: unknown): string {
  return errorMessage(error).split('\n', 1).join();
}
