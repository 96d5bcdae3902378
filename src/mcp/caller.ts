import * as z from 'zod/mini';

/** Whose call it is, as far as the client says: per request, since one server may be shared by several threads. */
export interface Caller {
  readonly threadId: string | null;
  readonly turnId: string | null;
  readonly callId: string | null;
}

const text = z.catch(z.optional(z.string()), undefined);

/** What Codex 0.171.0 puts into `_meta` of every `tools/call`. Claude Code 2.1.332 names no session there. */
const meta = z.looseObject({
  threadId: text,
  callId: text,
  'x-codex-turn-metadata': z.catch(z.optional(z.looseObject({ turn_id: text })), undefined),
});

export function readCaller(given: unknown): Caller {
  const parsed = meta.safeParse(given ?? {});
  if (!parsed.success) return { threadId: null, turnId: null, callId: null };
  const { threadId, callId, 'x-codex-turn-metadata': turn } = parsed.data;
  return { threadId: threadId || null, turnId: turn?.turn_id || null, callId: callId || null };
}
