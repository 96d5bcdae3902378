import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { literal, Pane } from './pane.ts';
import { untilGone } from './processes.ts';
import type { World } from './temp.ts';

let servers = 0;

/** How a pane begins. */
export interface PaneOptions {
  /** What runs in it, as argv; without one a plain `/bin/sh`. */
  command?: readonly string[];
  cols?: number;
  rows?: number;
  cwd?: string;
  /** Added to the world's environment. */
  env?: Record<string, string>;
  /** Keeps the screen when the command has ended; on when there is a `command`, else off. */
  remainOnExit?: boolean;
}

/** A private tmux server without anybody's configuration or environment, ended by its own `kill-server`. */
export class Tmux implements AsyncDisposable {
  /** What `tmux -L` takes; the socket lies in the world, so commands need its environment. */
  readonly name = `pw${process.pid}-${++servers}`;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** A new session whose only pane has exactly this size (80x24 unless told otherwise; there is no status line). */
  async open(options: PaneOptions = {}): Promise<Pane> {
    const { command = [], cols = 80, rows = 24, cwd = this.#world.work, env = {} } = options;
    const remain = (options.remainOnExit ?? command.length > 0) ? 'on' : 'off';
    const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    const size = ['-x', String(cols), '-y', String(rows)];
    const settings = {
      status: 'off',
      'default-shell': '/bin/sh',
      'remain-on-exit': remain,
      // With its usual text tmux scrolls the last screen up by a line.
      'remain-on-exit-format': '',
    };
    const id = await this.run(
      'start-server',
      ...Object.entries(settings).flatMap(([name, value]) => [';', 'set-option', '-gq', name, value]),
      ...[';', 'new-session', '-d', '-P', '-F', '#{pane_id}', ...size, '-c', cwd, ...variables.map(literal)],
      ...(command.length > 0 ? ['--', ...command.map(literal)] : []),
    );
    // The global setting is for a command that ends at once; the next pane changes it.
    await this.run('set-option', '-w', '-t', id, 'remain-on-exit', remain);
    return new Pane(this, id);
  }

  /** Runs one tmux command on this server; its output without the last line end. */
  async run(...args: string[]): Promise<string> {
    const argv = ['-L', this.name, '-f', '/dev/null', ...args];
    const { stdout } = await promisify(execFile)('tmux', argv, { env: this.#world.env });
    return stdout.replace(/\n$/, '');
  }

  /** Every pane of the server, in whatever session and window. */
  async panes(): Promise<Pane[]> {
    const ids = await this.run('list-panes', '-a', '-F', '#{pane_id}').catch(() => '');
    return ids.split('\n').flatMap((id) => (id ? [new Pane(this, id)] : []));
  }

  /** For a failing test: every screen. */
  async evidence(): Promise<string> {
    const screens = (await this.panes()).map(
      async (pane) => `${pane.id}:\n${(await pane.capture()).trimEnd()}`,
    );
    return (await Promise.all(screens)).join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pid = await this.run('display-message', '-p', '#{pid}').catch(() => null);
    if (pid === null) return;
    await this.run('kill-server').catch(() => {});
    await untilGone(Number(pid), 2_000);
  }
}
