import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../errors.ts';
import { ensurePrivateDir, stateDir } from '../os/folders.ts';
import type { OpenOptions } from '../wrapper/options.ts';
import { interruptible } from './interrupt.ts';
import { type Io, print, say } from './io.ts';
import { openAgain } from './open-again.ts';

const POLL_MS = 50;

/**
 * Opens a headless peer in a session of its own, so that it survives this terminal. Waits until it says that it is
 * ready, prints that line and what else it had to say, and leaves it alone; a peer that ends before says why, with
 * its own exit code.
 */
export async function openDetached(options: OpenOptions, io: Io): Promise<number> {
  const dir = join(stateDir(io.env), 'background');
  ensurePrivateDir(stateDir(io.env));
  ensurePrivateDir(dir);
  const said = { out: join(dir, `${options.name}.out`), err: join(dir, `${options.name}.err`) };
  const child = start(options, said);
  try {
    const readyLine = await interruptible((signal) => untilReady(child, said.out, signal));
    if (readyLine === null) return endedEarly(child, said.err, io);
    const remarks = readFileSync(said.err, 'utf8').trim();
    if (remarks !== '') say(io, remarks);
    print(io.stdout, readyLine);
    child.unref();
    return EXIT.ok;
  } catch (error) {
    child.kill('SIGTERM');
    throw error;
  }
}

function start(options: OpenOptions, said: { out: string; err: string }): ChildProcess {
  const [file, ...args] = openAgain(options, 'detach');
  const out = openSync(said.out, 'w', 0o600);
  const err = openSync(said.err, 'w', 0o600);
  try {
    return spawn(file, args, { detached: true, stdio: ['ignore', out, err], env: options.env });
  } finally {
    closeSync(out);
    closeSync(err);
  }
}

/** The first line on its stdout; null when the process ended without one. */
async function untilReady(child: ChildProcess, outFile: string, signal: AbortSignal): Promise<string | null> {
  for (;;) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    const [line, rest] = readFileSync(outFile, 'utf8').split('\n', 2);
    if (line !== undefined && rest !== undefined) return line;
    if (hasEnded) return null;
    signal.throwIfAborted();
    await sleep(POLL_MS);
  }
}

function endedEarly(child: ChildProcess, errFile: string, io: Io): number {
  const words = readFileSync(errFile, 'utf8')
    .trim()
    .replace(/^peer: /, '');
  say(io, words || 'the peer ended before it was ready and did not say why.');
  return child.exitCode || EXIT.internal;
}
