import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { PeerError } from '../errors.ts';
import type { PaneCommand } from '../harness/harness.ts';
import type { PaneOptions, PaneProcess } from './pane.ts';
import { readProcess } from './pane-processes.ts';
import { openOutput, RESET_SCREEN, TerminalModes } from './terminal-modes.ts';

/**
 * Lets the TUI inherit our terminal.
 *
 * @param whyNoPty what is said about node-pty when this way is closed too
 */
export async function openInherited(
  command: PaneCommand,
  options: PaneOptions,
  whyNoPty: string,
): Promise<PaneProcess> {
  requireSessionLeader(whyNoPty);
  const modes = await TerminalModes.save(options.stdin.fd);
  options.stdin.pause();
  const { file, args, cwd, env } = command;
  const child = spawn(file, args, { cwd, env, stdio: 'inherit' });
  const ended = once(child, 'exit');
  const { pid } = child;
  if (pid === undefined) {
    const cause = await ended.catch((error: unknown) => error);
    throw new PeerError('pane-unavailable', `The pane's program could not be started: ${file}`, { cause });
  }
  const exited = ended.then(async ([code, signal]) => {
    if (code !== 0) resetScreen(options.stdout);
    await modes.restore();
    return { code, signal };
  });
  return { pid, exited };
}

/**
 * A session leader's process group is orphaned, so the kernel drops the SIGTSTP of a Ctrl-Z; under a shell's job
 * control it would stop this process too, and senders would wait for a peer that does not answer.
 */
export function requireSessionLeader(whyNoPty: string): void {
  if (readProcess(process.pid)?.session === process.pid) return;
  throw new PeerError(
    'pane-unavailable',
    `No pane here: ${whyNoPty}, and without it Ctrl-Z would stop the peer and with it everybody who asks it.\n` +
      'Open it with --window or --headless, or install python3, make and a C++ compiler and reinstall peerwire.',
  );
}

function resetScreen(stdout: PaneOptions['stdout']): void {
  const output = openOutput(stdout);
  try {
    writeSync(output.fd, RESET_SCREEN);
  } catch {
    // The terminal is gone, or takes nothing.
  } finally {
    output.close();
  }
}
