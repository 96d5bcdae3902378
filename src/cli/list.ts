import { EXIT } from '../errors.ts';
import { forTerminal } from '../os/terminal.ts';
import { harnessOf } from '../registry/kind.ts';
import { isReachable, liveRows } from '../registry/live.ts';
import { places } from '../registry/places.ts';
import { isListed, isOpening, type Row } from '../registry/row.ts';
import { sweep } from '../registry/sweep.ts';
import { type Io, say } from './io.ts';
import { table } from './table.ts';

/** One element of `peer list --json`; strings are the peer's own words, unescaped. */
export interface ListedPeer {
  readonly name: string;
  readonly harness: 'codex' | 'claude' | 'cli';
  /** idle, busy, waiting, shell, opening, or a word its harness uses; null while it says nothing. */
  readonly status: string | null;
  readonly waitingFor: string | null;
  readonly cwd: string | null;
  readonly model: string | null;
  /** Where in tmux, `<session>:@<window>.%<pane>`. */
  readonly place: string | null;
  readonly pid: number;
  /** How a Codex peer has tools of its own to message others: given to its thread at the start, or not at all. */
  readonly tools: string | null;
  /** Why what it has received would not outlive its process; null when it would, or for a foreign harness. */
  readonly noStore: string | null;
  /** Its process is not stopped and its socket takes connections. */
  readonly reachable: boolean;
}

const COLUMNS = [
  { title: 'NAME', minWidth: 14, cut: 'right' },
  { title: 'HARNESS', minWidth: 7, cut: 'right' },
  { title: 'STATUS', minWidth: 11, cut: 'right' },
  { title: 'PID', minWidth: 7, cut: 'right' },
  { title: 'MODEL', minWidth: 7, cut: 'right' },
  { title: 'PLACE', minWidth: 8, cut: 'right' },
  { title: 'CWD', minWidth: 12, cut: 'left' },
] as const;
const DEFAULT_WIDTH = 80;

/** Prints every live peer; rows that our own dead wrappers left behind are removed first. */
export async function list(options: { json?: boolean }, io: Io): Promise<number> {
  const { sessionsDir } = places(io.env);
  await sweep(sessionsDir);
  const rows = (await liveRows(sessionsDir)).filter(isPeer);
  const peers = (await Promise.all(rows.map(listed))).sort(byName);
  if (options.json) io.stdout.write(`${JSON.stringify(peers, null, 2)}\n`);
  else if (peers.length === 0)
    say(
      io,
      'nobody is here. `peer open <Name>` opens a Codex session; Claude Code sessions appear by themselves.',
    );
  else printTable(peers, io);
  return EXIT.ok;
}

/** A row without a socket is a session that takes no messages, unless it is one of ours on its way. */
function isPeer(row: Row): boolean {
  return isListed(row) || isOpening(row);
}

async function listed(row: Row): Promise<ListedPeer> {
  return {
    name: row.name,
    harness: harnessOf(row),
    status: (isOpening(row) ? 'opening' : row.status) ?? null,
    waitingFor: row.waitingFor ?? null,
    cwd: row.cwd ?? null,
    model: row.model ?? null,
    place: row.tmux ?? null,
    pid: row.pid,
    tools: row.tools ?? null,
    noStore: row.noStore ?? null,
    reachable: await isReachable(row),
  };
}

function byName(a: ListedPeer, b: ListedPeer): number {
  const [first, second] = [a.name.toLowerCase(), b.name.toLowerCase()];
  return first < second ? -1 : first > second ? 1 : a.pid - b.pid;
}

function printTable(peers: readonly ListedPeer[], io: Io): void {
  const cells = peers.map((peer) => cellsOf(peer, io.env.HOME).map(forTerminal));
  for (const line of table(COLUMNS, cells, io.stdout.columns ?? DEFAULT_WIDTH)) io.stdout.write(`${line}\n`);
  for (const { name, noStore } of peers) {
    if (noStore === null) continue;
    // Its row's own words, so a line feed in them must not make a line that looks like ours.
    say(
      io,
      `${forTerminal(name)} has no store (${forTerminal(noStore)}): a crash loses what it has received.`,
    );
  }
}

function cellsOf(peer: ListedPeer, home: string | undefined): string[] {
  const { name, harness, pid, model, place, cwd } = peer;
  return [
    name,
    harness,
    statusOf(peer),
    String(pid),
    model ?? '-',
    place ?? '-',
    homeAsTilde(cwd ?? '-', home),
  ];
}

function statusOf(peer: ListedPeer): string {
  if (!peer.reachable && peer.status !== 'opening') return 'unreachable';
  const status = peer.status ?? '-';
  return peer.waitingFor === null ? status : `${status}: ${peer.waitingFor}`;
}

function homeAsTilde(cwd: string, home: string | undefined): string {
  if (!home || home === '/') return cwd;
  return cwd === home || cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd;
}
