import * as darwin from './proc-darwin.ts';
import * as linux from './proc-linux.ts';

/** What the process table says of one pid; both strings are compared, never computed with. */
export interface ProcessEntry {
  /** `R`, `S`, `T`, `Z`, … as ps prints it. */
  readonly state: string;
  readonly start: string;
}

const os = process.platform === 'darwin' ? darwin : linux;

/**
 * When a process started, in the form rows carry it (`procStart`): on Linux field 22 of
 * `/proc/<pid>/stat`, clock ticks since boot. Null when there is no such process.
 */
export function processStart(pid: number): string | null {
  return os.readProcess(pid)?.start ?? null;
}

/** One letter, `R` `S` `T` `Z` and so on. Null when there is no such process. */
export function processState(pid: number): string | null {
  return os.readProcess(pid)?.state ?? null;
}

/**
 * Whether `pid` is still the process that started at `start`. A zombie has ended. Without a start time
 * (rows of others may lack it) any living process with that pid counts.
 */
export function isSameProcess(pid: number, start: string | undefined): boolean {
  const entry = os.readProcess(pid);
  if (entry === null || hasEnded(entry.state)) return false;
  return start === undefined || entry.start === start;
}

/** Whether a process in this state can never run again. */
export function hasEnded(state: string): boolean {
  return state === 'Z' || state === 'X';
}

/** Whether a process in this state runs no code now, although the kernel still accepts connections for it. */
export function isStopped(state: string): boolean {
  return state === 'T' || state === 't';
}

/**
 * Where our pids mean something: `linux:<machine id>:pid:[<namespace>]`, as Claude Code 2.1.332 writes
 * `pidDomain`. Pids of another domain (a container, another machine on a shared home) cannot be looked up.
 */
export function pidDomain(): string {
  return os.pidDomain();
}
