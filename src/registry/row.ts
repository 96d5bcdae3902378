import { basename } from 'node:path';
import * as z from 'zod/mini';

// A field of a shape we do not know is as good as a missing one; it must not hide the peer.
const text = z.catch(z.optional(z.string()), undefined);
const number = z.catch(z.optional(z.number()), undefined);
const flag = z.catch(z.optional(z.boolean()), undefined);

const rowSchema = z.looseObject({
  pid: z.catch(z.optional(z.int().check(z.positive())), undefined),
  sessionId: text,
  cwd: text,
  startedAt: number,
  procStart: text,
  version: text,
  peerProtocol: number,
  peerFeatures: z.catch(z.optional(z.array(z.string())), undefined),
  kind: text,
  entrypoint: text,
  pidDomain: text,
  tmux: text,
  messagingSocketPath: text,
  name: text,
  nameSource: text,
  nameSince: number,
  formerNames: z.catch(
    z.optional(z.array(z.looseObject({ name: z.string(), until: number, sessionId: text }))),
    undefined,
  ),
  status: text,
  waitingFor: text,
  updatedAt: number,
  statusUpdatedAt: number,
  spare: flag,
  parkedJobId: text,
  // Ours; Claude Code ignores fields it does not know.
  bridge: text,
  state: text,
  model: text,
  effort: text,
  tmuxSocket: text,
});

/**
 * What a peer publishes in `<sessions>/<pid>.json` (Claude Code 2.1.332; everything but the name of the file
 * may be missing). Times are milliseconds since 1970, `procStart` a string. `tmux` is
 * `<session>:<window id>.<pane id>`. Fields we do not know are kept.
 */
export type Row = z.infer<typeof rowSchema> & {
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
  const parsed = rowSchema.safeParse(json);
  if (!parsed.success) return null;
  const pid = filePid ?? parsed.data.pid;
  if (pid === undefined) return null;
  return { ...parsed.data, pid, name: parsed.data.name || basename(parsed.data.cwd ?? '') || '?' };
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
