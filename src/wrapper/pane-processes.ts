import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Where a process stands among the others. */
export interface FamilyEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** The foreground process group of its terminal. */
  readonly foreground: number;
  /** As `processStart` gives it. */
  readonly start: string;
}

const hasProc = process.platform === 'linux';

/** Null when there is no such process. */
export function readProcess(pid: number): FamilyEntry | null {
  return hasProc ? fromProc(pid) : (fromPs(['-p', String(pid)])[0] ?? null);
}

/** All processes of the machine; one that ends meanwhile is left out. */
export function readProcesses(): FamilyEntry[] {
  if (!hasProc) return fromPs(['-ax']);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => fromProc(Number(pid))).filter((entry) => entry !== null);
}

/** proc_pid_stat(5); its second field, in parentheses, may hold spaces and parentheses itself. */
function fromProc(pid: number): FamilyEntry | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return null;
  }
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [, parent, group, session, , foreground] = fields;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    foreground: Number(foreground),
    start: fields[19] ?? '',
  };
}

/** macOS tells no session id, only (by an `s` in the state) who leads one: members are told by their group. */
function fromPs(which: readonly string[]): FamilyEntry[] {
  let table: string;
  try {
    const columns = 'pid=,ppid=,pgid=,tpgid=,stat=,lstart=';
    table = execFileSync('ps', [...which, '-o', columns], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return [];
  }
  return table.split('\n').flatMap((line) => {
    const [pid, parent, group, foreground, state = '', ...start] = line.trim().split(/\s+/);
    if (!pid) return [];
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: state.includes('s') ? Number(pid) : Number(group),
      foreground: Number(foreground),
      start: start.join(' '),
    };
  });
}
