import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const LIMIT_MS = 3_000;

/** A pane and the server it is in; `window` and `pane` are tmux ids (`@1`, `%1`). */
export interface TmuxPlace {
  readonly socket: string;
  readonly session: string;
  readonly window: string;
  readonly pane: string;
}

export interface NewWindow {
  readonly socket: string;
  /** Session to make it in; without it tmux takes the one used last. */
  readonly session?: string;
  readonly name: string;
  /** Absolute. */
  readonly cwd: string;
  readonly argv: readonly [string, ...string[]];
}

/** The first part of `TMUX` is the server's socket. Null outside tmux. */
export function tmuxSocket(env: NodeJS.ProcessEnv): string | null {
  return env.TMUX?.split(',')[0] || null;
}

/** Where this process runs. Null outside tmux, or when the server does not answer within 3 s. */
export function tmuxPlace(env: NodeJS.ProcessEnv): TmuxPlace | null {
  const socket = tmuxSocket(env);
  if (socket === null || !env.TMUX_PANE) return null;
  try {
    const args = serverArguments(socket, 'display-message', '-p', '-t', env.TMUX_PANE, PLACE);
    return placeIn(
      execFileSync('tmux', args, { timeout: LIMIT_MS, stdio: ['ignore', 'pipe', 'ignore'] }),
      socket,
    );
  } catch {
    return null;
  }
}

/**
 * Makes a window in the background that runs `argv` itself (no login shell above it) in the environment of the
 * tmux server. Rejects with tmux's words.
 */
export async function newWindow({ socket, session, name, cwd, argv }: NewWindow): Promise<TmuxPlace> {
  const target = session === undefined ? [] : ['-t', `=${session}:`];
  const flags = ['-d', '-P', '-F', PLACE, ...target, '-n', tmuxText(name)];
  // `new-window -c` expands formats and keeps `##[` doubled, so no quoting reaches every folder; cd does.
  const command = ['/bin/sh', '-c', 'cd -- "$1" && shift && exec "$@"', 'sh', cwd, ...argv];
  const place = placeIn(await tmux(socket, 'new-window', ...flags, '--', ...command), socket);
  if (place === null) throw new Error('tmux made a window and did not say which');
  return place;
}

export async function killWindow(socket: string, window: string): Promise<void> {
  await tmux(socket, 'kill-window', '-t', window);
}

/** The panes of a window with the pid of each one's command. No window: none. */
export async function windowPanes(socket: string, window: string): Promise<{ pane: string; pid: number }[]> {
  const output = await tmux(socket, 'list-panes', '-t', window, '-F', '#{pane_id} #{pane_pid}').catch(
    () => '',
  );
  return output.split('\n').flatMap((line) => {
    const [pane, pid] = line.split(' ');
    return pane && pid ? [{ pane, pid: Number(pid) }] : [];
  });
}

/** A foreign string for a place where tmux expands formats: `#` doubled, control characters removed. */
export function tmuxText(text: string): string {
  return text.replace(/\p{Cc}/gu, '').replaceAll('#', '##');
}

const PLACE = '#{window_id} #{pane_id} #{session_name}';

function placeIn(output: string | Buffer, socket: string): TmuxPlace | null {
  const match = /^(@\d+) (%\d+) (.*)$/m.exec(output.toString());
  const [, window, pane, session] = match ?? [];
  return window && pane && session !== undefined ? { socket, session, window, pane } : null;
}

async function tmux(socket: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('tmux', serverArguments(socket, ...args), { timeout: LIMIT_MS });
  return stdout;
}

/** tmux takes an argument that ends with `;` for the end of its command, and `\;` for a `;`. */
function serverArguments(socket: string, ...args: string[]): string[] {
  return ['-S', socket, ...args.map((arg) => (arg.endsWith(';') ? `${arg.slice(0, -1)}\\;` : arg))];
}
