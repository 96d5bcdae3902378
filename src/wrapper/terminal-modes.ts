import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { PeerError } from '../errors.ts';

const STTY_MS = 1_000;

/**
 * Byte-exact both ways. `setRawMode` is not: libuv keeps ONLCR, which turns each bare line feed of a TUI into
 * CR LF. IEXTEN is not part of stty's `raw`.
 */
const RAW = ['raw', '-echo', '-iexten'];

/** The line settings of a terminal, as they were before a TUI came. */
export class TerminalModes {
  readonly #fd: number;
  readonly #saved: string;

  private constructor(fd: number, saved: string) {
    this.#fd = fd;
    this.#saved = saved;
  }

  /** @throws PeerError `pane-unavailable` when `fd` is no terminal or there is no stty(1) */
  static async save(fd: number): Promise<TerminalModes> {
    const saved = (await stty(fd, ['-g'])).trim();
    return new TerminalModes(fd, saved);
  }

  async makeRaw(): Promise<void> {
    await stty(this.#fd, RAW);
  }

  /** Never rejects: the terminal may be gone, and Node restores its own first settings once more at exit. */
  async restore(): Promise<void> {
    await stty(this.#fd, [this.#saved]).catch(() => {});
  }
}

/** A process with a limit, since stty waits for output that a stuck terminal never takes. */
async function stty(fd: number, args: readonly string[]): Promise<string> {
  try {
    const child = spawn('stty', args, {
      stdio: [fd, 'pipe', 'ignore'],
      timeout: STTY_MS,
      killSignal: 'SIGKILL',
    });
    const [output, [code, signal]] = await Promise.all([
      child.stdout ? text(child.stdout) : '',
      once(child, 'close'),
    ]);
    if (code !== 0) throw new Error(`stty ${args.join(' ')} ended with ${code ?? signal}`);
    return output;
  } catch (error) {
    throw new PeerError(
      'pane-unavailable',
      'The terminal cannot be prepared for the pane: stty failed. Open the peer with --headless.',
      { cause: error },
    );
  }
}

/**
 * Undoes what a TUI that was killed leaves switched on. A half-written control string is closed first. The
 * cursor is saved around the two sequences that would move it on a terminal that is not in that state.
 */
export const RESET_SCREEN = [
  '\x1b\\',
  '\x1b[?2026l', // synchronized update
  '\x1b[<u', // kitty keyboard protocol; each of the two screens has its own stack
  '\x1b7\x1b[?1049l', // alternate screen
  '\x1b[<u',
  '\x1b[>4;0m', // xterm's modifyOtherKeys
  '\x1b7\x1b[r\x1b8', // scroll region
  '\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l', // mouse
  '\x1b[?1004l', // focus events
  '\x1b[?2004l', // bracketed paste
  '\x1b[?1l\x1b>', // application cursor keys and keypad
  '\x1b[?7h', // line wrap
  '\x1b[?25h\x1b[0 q', // cursor
  '\x1b(B\x1b[0m\r\n',
].join('');

/**
 * A non-blocking way to the terminal of `stdout`, for a moment or for a pane's life: Node writes to a terminal
 * blocking, so one that takes nothing (a suspended ssh) would stop the whole peer. The terminal is opened anew,
 * since the mode of an inherited descriptor is shared with every other process on it.
 */
export function openOutput(stdout: { readonly fd: number }): { fd: number; close(): void } {
  const path = process.platform === 'linux' ? `/proc/self/fd/${stdout.fd}` : '/dev/tty';
  try {
    const fd = openSync(path, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
    return { fd, close: () => closeSync(fd) };
  } catch {
    // After su(1) the terminal is still the other user's: only what was inherited can be written to.
    return { fd: stdout.fd, close: () => {} };
  }
}
