import { BRIDGE, GUEST_ENTRYPOINT, type Row } from './row.ts';

/** Whose row it is: a session of that harness, or a `peer` command that waits for an answer. */
export function harnessOf(row: Row): 'codex' | 'claude' | 'cli' {
  if (row.entrypoint === GUEST_ENTRYPOINT) return 'cli';
  return row.bridge === BRIDGE ? 'codex' : 'claude';
}

/** One of our wrappers serves it, so answers come marked. */
export function isWrapped(row: Row): boolean {
  return harnessOf(row) === 'codex';
}
