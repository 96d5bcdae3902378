import * as z from 'zod/mini';
import { ERROR_WORDS } from '../errors.ts';

/*
 * One JSON object a line, UTF-8, either way:
 *
 *   → {"id":1,"method":"status"}
 *   ← {"id":1,"result":{…}}   or   {"id":1,"error":{"word":"…","message":"…"}}
 *
 * Requests of one connection run side by side and are answered as they end, by id. A line that cannot be read is
 * answered with `id` null. Lines of a kind that the reader does not know are passed over.
 */

const id = z.union([z.string(), z.number()]);

export const controlRequest = z.looseObject({
  id,
  method: z.string(),
  params: z.optional(z.unknown()),
});

export const controlAnswer = z.looseObject({
  id: z.nullable(id),
  result: z.optional(z.unknown()),
  /** A word of a newer version counts as `internal`; its sentence says what happened all the same. */
  error: z.optional(z.looseObject({ word: z.catch(z.enum(ERROR_WORDS), 'internal'), message: z.string() })),
});

/** Of `tool`: a call of the thread's own model that came another way than through the harness. */
export const toolParams = z.looseObject({
  /** The caller's thread, so that a wrapper never acts for another one. */
  threadId: z.string(),
  tool: z.string(),
  arguments: z.unknown(),
  /** The turn that the call belongs to. */
  turnId: z.optional(z.string()),
  /** A call that comes again under the same id acts once. */
  callId: z.optional(z.string()),
});

/** Of `status`. */
const statusResult = z.looseObject({
  name: z.string(),
  threadId: z.string(),
  /** `opening`, `serving`, `closing`. */
  state: z.string(),
  /** Messages that wait for the thread. */
  queued: z.number(),
  /** Messages given to the thread that have no outcome yet. */
  claims: z.number(),
  /** Frames that were turned away since it opened; its log says why. */
  refused: z.number(),
});

/** Of `tool`: what the model is shown. */
const toolResult = z.looseObject({ text: z.string(), success: z.boolean() });

export const RESULTS = { status: statusResult, tool: toolResult };

export type ControlMethod = keyof typeof RESULTS;
export type ControlResult<M extends ControlMethod> = z.infer<(typeof RESULTS)[M]>;
export type ControlRequest = z.infer<typeof controlRequest>;
export type ToolParams = z.infer<typeof toolParams>;
export type ControlParams<M extends ControlMethod> = M extends 'tool' ? ToolParams : Record<string, never>;
