import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

/** Living processes whose environment says `HOME=<home>`. Linux only; elsewhere none are found. */
export function processesWithHome(home: string): FoundProcess[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    if (!procFile(name, 'environ').split('\0').includes(`HOME=${home}`)) return [];
    return [{ pid: Number(name), command: procFile(name, 'cmdline').split('\0').join(' ').trim() }];
  });
}

/** Kills them and waits until they are gone; zombies of other parents have no environment and do not count. */
export async function endProcesses(processes: readonly FoundProcess[]): Promise<void> {
  for (const { pid } of processes) send(pid, 'SIGKILL');
  for (const { pid } of processes) await untilGone(pid, 2_000);
}

/** False when the process does not exist (any more). */
export function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Resolves to false when it still runs after `timeoutMs`. A zombie counts as gone. */
export async function untilGone(pid: number, timeoutMs: number): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  while (send(pid, 0) && !procFile(pid, 'stat').includes(') Z ')) {
    if (Date.now() > end) return false;
    await sleep(20);
  }
  return true;
}

function procFile(pid: number | string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
