import { basename } from 'node:path';

// Read without zod: loading it takes 7 ms, and all that `peer list` may add to Node's own start is 10 ms.
const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => Number.isFinite(value);
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** The fields we know. One of another shape is as good as a missing one; it must not hide the peer. */
const FIELDS = {
  sessionId: isText,
  cwd: isText,
  startedAt: isNumber,
  procStart: isText,
  version: isText,
  peerProtocol: isNumber,
  peerFeatures: isTexts,
  kind: isText,
  entrypoint: isText,
  pidDomain: isText,
  tmux: isText,
  messagingSocketPath: isText,
  name: isText,
  nameSource: isText,
  nameSince: isNumber,
  status: isText,
  waitingFor: isText,
  updatedAt: isNumber,
  statusUpdatedAt: isNumber,
  spare: isFlag,
  parkedJobId: isText,
  // Ours; Claude Code ignores fields it does not know.
  bridge: isText,
  state: isText,
  model: isText,
  effort: isText,
  tmuxSocket: isText,
  tools: isText,
  noStore: isText,
};

type Known = {
  [Field in keyof typeof FIELDS]?: (typeof FIELDS)[Field] extends (value: unknown) => value is infer Shape
    ? Shape | undefined
    : never;
};

/**
 * What a peer publishes in `<sessions>/<pid>.json` (Claude Code 2.1.332; everything but the name of the file
 * may be missing). Times are milliseconds since 1970, `procStart` a string. `tmux` is
 * `<session>:<window id>.<pane id>`. Fields we do not know are kept.
 */
export type Row = Known & {
  readonly [field: string]: unknown;
  readonly pid: number;
  /** As Claude shows it: the base name of the folder where there is no name, `?` where there is neither. */
  readonly name: string;
};

/** `bridge` of every row of ours. */
export const BRIDGE = 'peerwire';

/** `entrypoint` of the row that a command publishes while it waits for an answer. */
export const GUEST_ENTRYPOINT = 'peer-cli';

/**
 * Reads a row; null when the text is no row (torn, no JSON, no pid). `filePid` is the pid the file is named
 * for, which is the one that counts.
 */
export function parseRow(text: string, filePid?: number): Row | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return null;
  const row = withoutMisshapen(json);
  const pid = filePid ?? (isPid(row.pid) ? row.pid : undefined);
  if (pid === undefined) return null;
  return { ...row, pid, name: row.name || basename(row.cwd ?? '') || '?' };
}

function withoutMisshapen(json: object): Known & { pid?: unknown } {
  const row: Record<string, unknown> = { ...json };
  for (const [field, hasShape] of Object.entries(FIELDS)) if (!hasShape(row[field])) delete row[field];
  return row;
}

function isPid(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

/** Whether the row offers itself to messages. Claude's rule: a socket, not spare, not parked. */
export function isListed(row: Row): row is Row & { readonly messagingSocketPath: string } {
  return Boolean(row.messagingSocketPath) && row.spare !== true && row.parkedJobId === undefined;
}

/** Whether it is a row of ours that takes no messages yet; Claude lists no row without a socket. */
export function isOpening(row: Row): boolean {
  return row.bridge === BRIDGE && row.state === 'opening' && !row.messagingSocketPath;
}

/** Where a person finds the peer: its tmux place with the pid, else only the pid. */
export function whereIs(row: Row): string {
  return row.tmux ? `pid ${row.pid}, tmux ${row.tmux}` : `pid ${row.pid}`;
}
