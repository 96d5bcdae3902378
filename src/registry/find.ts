import { PeerError } from '../errors.ts';
import { oneLine } from '../os/terminal.ts';
import { sameName } from './names.ts';
import { isListed, isOpening, type Row, whereIs } from './row.ts';

/**
 * The one peer somebody means: by name (without case), or by pid where a name is shared. Never a guess. A peer
 * that is still opening is found only when none that serves is meant.
 * @param hint what to do when nobody has a name like it
 * @throws PeerError `no-such-peer` with near names, `ambiguous-peer` with every candidate's pid and place.
 */
export function findPeer(rows: readonly Row[], name: string, hint = '`peer list` shows who is there.'): Row {
  const known = rows.filter((row) => isListed(row) || isOpening(row));
  const listed = known.filter(isListed);
  const byName = (row: Row) => sameName(row.name, name);
  const byPid = (row: Row) => String(row.pid) === name;
  const found = [listed.filter(byName), known.filter(byName), known.filter(byPid)].find(isNotEmpty) ?? [];
  const [first, second] = found;
  if (first === undefined) throw noSuchPeer(known, name, hint);
  if (second !== undefined) throw ambiguous(found, name);
  return first;
}

function noSuchPeer(rows: readonly Row[], name: string, hint: string): PeerError {
  const near = [...new Set(rows.map((row) => row.name))].filter((other) => isNear(other, name)).slice(0, 3);
  const next = near.length > 0 ? `Did you mean ${near.map(quoted).join(' or ')}?` : hint;
  return new PeerError('no-such-peer', `No peer named ${quoted(name)} is running; nothing was sent. ${next}`);
}

function ambiguous(rows: readonly Row[], name: string): PeerError {
  const lines = rows.map((row) => `  ${row.pid}  ${quoted(row.name)}  ${oneLine(placeOf(row), 120)}`);
  return new PeerError(
    'ambiguous-peer',
    `${rows.length} peers are named ${quoted(name)}; nothing was sent. Give the pid in place of the name:\n` +
      lines.join('\n'),
  );
}

function placeOf(row: Row): string {
  return [row.tmux ? `tmux ${row.tmux}` : '', row.cwd ?? ''].filter(Boolean).join(', ') || whereIs(row);
}

function quoted(name: string): string {
  return `"${oneLine(name, 64)}"`;
}

function isNear(other: string, name: string): boolean {
  const a = other.toLowerCase().slice(0, 64);
  const b = name.toLowerCase().slice(0, 64);
  if (a === '' || b === '') return false;
  const isPart = Math.min(a.length, b.length) >= 3 && (a.includes(b) || b.includes(a));
  return isPart || editDistance(a, b) <= (Math.min(a.length, b.length) <= 3 ? 1 : 2);
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

function isNotEmpty(rows: readonly Row[]): boolean {
  return rows.length > 0;
}
