import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { poll } from '../real/poll.ts';
import { openWorld, type World } from '../real/temp.ts';
import { Tmux } from '../real/tmux.ts';

/** What one run of pane-driver.ts does. */
export interface DriverSpec {
  /** The program that stands for the TUI. */
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** Whether a PaneKeeper restarts it. */
  isKept: boolean;
  /** Printed when the pane has ended. */
  says: string;
  /** Whether it stays after that, until it is killed. */
  isLasting: boolean;
  /** Whether SIGHUP does not end it. */
  survivesHangup: boolean;
  report: string;
}

export interface DriverEvent {
  event: string;
  [field: string]: unknown;
}

/** One world with the bundled driver, and scripts that stand for a TUI. */
export class PaneBench implements AsyncDisposable {
  readonly world: World = openWorld();
  readonly tmux = this.world.own(new Tmux(this.world));
  readonly driver = join(this.world.root, 'driver', 'driver.mjs');
  readonly report = join(this.world.root, 'report');
  /** A file the TUI scripts may write what they saw to (`process.env.SEEN`). */
  readonly seenFile = join(this.world.root, 'seen');

  /** @param hasNodePty whether the driver finds node-pty where it looks for packages */
  static async open({ hasNodePty = true } = {}): Promise<PaneBench> {
    const bench = new PaneBench();
    mkdirSync(join(bench.world.root, 'driver'));
    if (hasNodePty)
      symlinkSync(join(process.cwd(), 'node_modules'), join(bench.world.root, 'driver', 'node_modules'));
    await build({
      entryPoints: ['test/wrapper/pane-driver.ts'],
      outfile: bench.driver,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'error',
    });
    bench.clear();
    return bench;
  }

  /** Forgets the events so far. */
  clear(): void {
    writeFileSync(this.report, '');
  }

  /** The command line of a driver whose TUI is this Node script. */
  script(source: string, spec: Partial<DriverSpec> = {}): [string, ...string[]] {
    const script = join(this.world.root, 'tui.mjs');
    writeFileSync(script, source);
    return this.command({ file: process.execPath, args: [script], ...spec });
  }

  /** The command line of a driver with this spec. */
  command(spec: Partial<DriverSpec> & Pick<DriverSpec, 'file' | 'args'>): [string, ...string[]] {
    const specFile = join(this.world.root, 'spec.json');
    const whole: DriverSpec = {
      cwd: this.world.work,
      env: { SEEN: this.seenFile },
      isKept: false,
      says: '',
      isLasting: false,
      survivesHangup: false,
      report: this.report,
      ...spec,
    };
    writeFileSync(specFile, JSON.stringify(whole));
    return [process.execPath, this.driver, specFile];
  }

  events(): DriverEvent[] {
    const lines = readFileSync(this.report, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as DriverEvent);
  }

  event(name: string, timeoutMs = 5_000): Promise<DriverEvent> {
    return poll(
      () => this.events().find(({ event }) => event === name),
      timeoutMs,
      () =>
        `no "${name}" from the driver, only ${JSON.stringify(this.events().filter((e) => e.event !== 'tick'))}`,
    );
  }

  /** The file `SEEN`, as soon as it matches. */
  seen(wanted: RegExp, timeoutMs = 5_000): Promise<string> {
    const read = () => {
      try {
        return readFileSync(this.seenFile, 'latin1');
      } catch {
        return '';
      }
    };
    return poll(
      () => (wanted.test(read()) ? read() : null),
      timeoutMs,
      () => `the TUI never saw ${wanted}: ${read()}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }
}
