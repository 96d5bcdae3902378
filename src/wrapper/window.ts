import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PeerError } from '../errors.ts';
import { killWindow, newWindow, type TmuxPlace, tmuxPlace, windowPanes } from '../os/tmux.ts';

/** What a peer reads from its environment. A tmux window has the tmux server's instead, often days old. */
const PASSED_ON = [
  'PATH',
  'HOME',
  'TMPDIR',
  'CODEX_HOME',
  'CLAUDE_CONFIG_DIR',
  'XDG_RUNTIME_DIR',
  'XDG_STATE_HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
];

/** The window option by which `closeWindow` knows a window of ours. */
const OURS = '@peer-window';

export interface WindowCommand {
  /** Name of the window. */
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  /** Absolute. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Makes a window in the background of the caller's tmux session, running exactly `argv` with the caller's
 * variables. A command that fails leaves its last words on the screen (tmux 3.2 and newer).
 *
 * @throws PeerError `pane-unavailable` outside tmux, or with tmux's own words
 */
export async function openWindow({ name, argv, cwd, env }: WindowCommand): Promise<TmuxPlace> {
  const here = tmuxPlace(env);
  if (here === null) {
    throw new PeerError(
      'pane-unavailable',
      '--window makes a tmux window, and this is not inside tmux. Run it in tmux, or open the peer here without --window.',
    );
  }
  const { socket, session } = here;
  try {
    const made = await newWindow({
      socket,
      session,
      name,
      cwd,
      argv: ['/usr/bin/env', ...passedOn(env), ...argv],
    });
    await setOption(made, 'remain-on-exit', 'failed').catch(() => {});
    await setOption(made, OURS, '1').catch(() => {});
    return made;
  } catch (error) {
    throw new PeerError('pane-unavailable', `tmux made no window: ${tmuxWords(error)}`, { cause: error });
  }
}

/** What a row tells about its place; `tmux` is `<session>:<window id>.<pane id>`. */
export interface WindowPlace {
  readonly pid: number;
  readonly tmux?: string | undefined;
  readonly tmuxSocket?: string | undefined;
}

/**
 * Kills a peer's window when `--window` made it and the peer is still all that is in it. The caller makes sure
 * that the pid is still the peer's.
 *
 * @returns false when nothing was killed: the peer is to be ended by SIGTERM
 */
export async function closeWindow({ pid, tmux, tmuxSocket }: WindowPlace): Promise<boolean> {
  const [, window, pane] = /:(@\d+)\.(%\d+)$/.exec(tmux ?? '') ?? [];
  if (!tmuxSocket || !window || !pane) return false;
  const place = { socket: tmuxSocket, window };
  const [only, ...others] = await windowPanes(place.socket, place.window);
  if (only?.pane !== pane || only.pid !== pid || others.length > 0) return false;
  if ((await option(place, OURS).catch(() => '')) !== '1') return false;
  return killWindow(place.socket, place.window).then(
    () => true,
    () => false,
  );
}

/** Arguments of env(1): a variable that is not set here must not come from the tmux server either. */
function passedOn(env: NodeJS.ProcessEnv): string[] {
  const unset = PASSED_ON.filter((name) => env[name] === undefined);
  const set = PASSED_ON.filter((name) => env[name] !== undefined);
  return [...unset.flatMap((name) => ['-u', name]), ...set.map((name) => `${name}=${env[name]}`)];
}

type Window = Pick<TmuxPlace, 'socket' | 'window'>;

async function setOption({ socket, window }: Window, name: string, value: string): Promise<void> {
  await promisify(execFile)('tmux', ['-S', socket, 'set-option', '-w', '-t', window, name, value]);
}

async function option({ socket, window }: Window, name: string): Promise<string> {
  const args = ['-S', socket, 'show-options', '-w', '-v', '-q', '-t', window, name];
  const { stdout } = await promisify(execFile)('tmux', args);
  return stdout.trim();
}

function tmuxWords(error: unknown): string {
  const said = typeof error === 'object' && error !== null && 'stderr' in error ? String(error.stderr) : '';
  return said.trim() || String(error);
}
