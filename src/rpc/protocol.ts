import * as z from 'zod/mini';

/**
 * What we read of Codex's protocol, from `codex app-server generate-ts --experimental` (0.171.0). Unknown
 * fields are kept and unknown words allowed: a newer daemon may say more.
 */

const threadStatus = z.looseObject({
  type: z.string(),
  activeFlags: z.optional(z.array(z.string())),
});

const sandboxPolicy = z.looseObject({
  type: z.string(),
  networkAccess: z.optional(z.union([z.boolean(), z.string()])),
  writableRoots: z.optional(z.array(z.string())),
});

/** A word (`never`, `on-request`, …) or an object with one key (`granular`). */
const approvalPolicy = z.union([z.string(), z.looseObject({})]);

const thread = z.looseObject({
  id: z.string(),
  status: threadStatus,
  cwd: z.string(),
  historyMode: z.optional(z.string()),
});

const turnError = z.looseObject({
  message: z.string(),
  codexErrorInfo: z.optional(z.nullable(z.union([z.string(), z.looseObject({})]))),
});

const item = z.looseObject({
  type: z.string(),
  clientId: z.optional(z.nullable(z.string())),
  text: z.optional(z.string()),
  phase: z.optional(z.nullable(z.string())),
  delivery: z.optional(z.nullable(z.string())),
  name: z.optional(z.string()),
});

const turn = z.looseObject({
  id: z.string(),
  rootTurnId: z.optional(z.nullable(z.string())),
  status: z.string(),
  completedAt: z.optional(z.nullable(z.number())),
  error: z.optional(z.nullable(turnError)),
  items: z.optional(z.array(item)),
});

const page = { nextCursor: z.optional(z.nullable(z.string())) };

export const initializeResponse = z.looseObject({ userAgent: z.string() });

/** Of `thread/start` and `thread/resume` alike. */
export const threadResponse = z.looseObject({
  thread,
  model: z.optional(z.nullable(z.string())),
  reasoningEffort: z.optional(z.nullable(z.string())),
  approvalPolicy,
  sandbox: sandboxPolicy,
  cwd: z.string(),
});

export const turnStartResponse = z.looseObject({ turn });
export const turnsPage = z.looseObject({ data: z.array(turn), ...page });
export const itemsPage = z.looseObject({ data: z.array(z.looseObject({ item })), ...page });

/** `runtimeStatus` is `connected` when its tools can be called; `tools` has their names for keys. */
export const mcpServerStatuses = z.looseObject({
  data: z.array(
    z.looseObject({
      name: z.string(),
      runtimeStatus: z.optional(z.nullable(z.string())),
      tools: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
    }),
  ),
});

export const statusChanged = z.looseObject({ status: threadStatus });
export const turnNotification = z.looseObject({ turn });
export const itemNotification = z.looseObject({ turnId: z.string(), item });
/** `contentItems` is empty when the turn was interrupted (Codex 0.171.0). */
export const toolItem = z.looseObject({
  item: z.looseObject({
    type: z.literal('dynamicToolCall'),
    id: z.string(),
    tool: z.string(),
    success: z.optional(z.nullable(z.boolean())),
    contentItems: z.optional(z.nullable(z.array(z.unknown()))),
  }),
});
export const toolCall = z.looseObject({
  turnId: z.string(),
  callId: z.string(),
  /** `mcp__<server>` for a tool of an MCP server; a dynamic tool has none. */
  namespace: z.optional(z.nullable(z.string())),
  tool: z.string(),
  arguments: z.unknown(),
});
export const settingsUpdated = z.looseObject({
  threadSettings: z.looseObject({
    model: z.optional(z.nullable(z.string())),
    effort: z.optional(z.nullable(z.string())),
    approvalPolicy,
    sandboxPolicy,
    cwd: z.string(),
  }),
});
export const requestResolved = z.looseObject({ requestId: z.union([z.string(), z.number()]) });

/** Every notification and request about a thread names it; broadcasts come for all threads. */
export const aboutThread = z.looseObject({
  threadId: z.optional(z.string()),
  conversationId: z.optional(z.string()),
});

export type WireThreadStatus = z.infer<typeof threadStatus>;
export type WireSandbox = z.infer<typeof sandboxPolicy>;
export type WireApproval = z.infer<typeof approvalPolicy>;
export type WireTurn = z.infer<typeof turn>;
export type WireItem = z.infer<typeof item>;
