import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pidDomain, processStart } from '../../src/os/proc.ts';
import type { World } from '../real/temp.ts';

/** A process without a socket that has a row of ours and takes its time, or for ever, to end after SIGTERM. */
export class SlowProcess implements AsyncDisposable {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exited = once(child, 'exit');
    this.pid = child.pid!;
  }

  static async start(world: World, name: string, endsAfterMs: number): Promise<SlowProcess> {
    const script = `
      process.on('SIGTERM', () => setTimeout(process.exit, ${Math.min(endsAfterMs, 2 ** 31 - 1)}));
      setInterval(() => {}, 1000);
      console.log('ready');`;
    const child = spawn(process.execPath, ['-e', script], {
      env: world.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout!, 'data');
    const { pid } = child;
    const procStart = processStart(pid!);
    const row = { pid, name, procStart, pidDomain: pidDomain(), bridge: 'peerwire', state: 'opening' };
    mkdirSync(join(world.claudeDir, 'sessions'), { recursive: true, mode: 0o700 });
    writeFileSync(join(world.claudeDir, 'sessions', `${pid}.json`), JSON.stringify(row));
    return world.own(new SlowProcess(child));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
