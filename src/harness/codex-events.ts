import { errorMessage } from '../errors.ts';
import type { RequestId } from '../rpc/client.ts';
import {
  aboutThread,
  itemNotification,
  requestResolved,
  settingsUpdated,
  statusChanged,
  toolItem,
  turnNotification,
  type WireThreadStatus,
} from '../rpc/protocol.ts';
import { turnStatus } from './codex-history.ts';
import type { CodexThreadOptions } from './codex-options.ts';
import { type ReportedSettings, readSettings } from './codex-rights.ts';
import type { HarnessEvent, ThreadStatus } from './harness.ts';

/** What a notification about our thread means to a session. */
export type Notice =
  | { readonly type: 'event'; readonly event: HarnessEvent }
  | { readonly type: 'status'; readonly status: ThreadStatus }
  | { readonly type: 'settings'; readonly settings: ReportedSettings }
  /** Nobody's thread at the moment: it must be resumed, unless it is found to be gone. */
  | { readonly type: 'unloaded' }
  | { readonly type: 'reverted' }
  | { readonly type: 'gone'; readonly cause: string }
  | { readonly type: 'resolved'; readonly requestId: RequestId }
  /** A call of a dynamic tool is over, whoever answered it. */
  | { readonly type: 'tool-done'; readonly callId: string; readonly isInterrupted: boolean };

/** Streams and bookkeeping that nobody here reads (`initialize`, `optOutNotificationMethods`). */
export const UNUSED_NOTIFICATIONS: readonly string[] = [
  'account/rateLimits/updated',
  'command/exec/outputDelta',
  'configWarning',
  'item/agentMessage/delta',
  'item/commandExecution/outputDelta',
  'item/fileChange/outputDelta',
  'item/fileChange/patchUpdated',
  'item/mcpToolCall/progress',
  'item/plan/delta',
  'item/reasoning/summaryPartAdded',
  'item/reasoning/summaryTextDelta',
  'item/reasoning/textDelta',
  'thread/goal/cleared',
  'thread/name/updated',
  'thread/readState/changed',
  'thread/started',
  'thread/tokenUsage/updated',
  'turn/diff/updated',
  'turn/plan/updated',
  'warning',
];

/**
 * Reads one notification for the thread `threadId`; null when it is about another thread (status, archive and
 * revert are broadcast for all of them) or tells us nothing.
 */
function readNotice(threadId: string, method: string, params: unknown): Notice | null {
  if (!isAbout(threadId, params)) return null;
  switch (method) {
    case 'thread/status/changed': {
      const status = toThreadStatus(statusChanged.parse(params).status);
      return status === null ? { type: 'unloaded' } : { type: 'status', status };
    }
    case 'turn/started':
      return event({ type: 'turn-started', turnId: turnNotification.parse(params).turn.id });
    case 'turn/completed': {
      const { turn } = turnNotification.parse(params);
      return event({ type: 'turn-ended', turnId: turn.id, status: turnStatus(turn.status) });
    }
    case 'item/started': {
      const { item, turnId } = itemNotification.parse(params);
      if (item.type !== 'userMessage') return null;
      return event({ type: 'user-item', turnId, clientId: item.clientId ?? null });
    }
    case 'item/completed': {
      const done = toolItem.safeParse(params);
      if (!done.success) return null;
      const { id, success, contentItems } = done.data.item;
      return { type: 'tool-done', callId: id, isInterrupted: !success && !contentItems?.length };
    }
    case 'thread/settings/updated': {
      const { sandboxPolicy, ...settings } = settingsUpdated.parse(params).threadSettings;
      return { type: 'settings', settings: readSettings({ ...settings, sandbox: sandboxPolicy }) };
    }
    case 'thread/closed':
      return { type: 'unloaded' };
    case 'thread/reverted':
      return { type: 'reverted' };
    case 'thread/archived':
      return { type: 'gone', cause: 'its thread was archived in Codex' };
    case 'thread/deleted':
      return { type: 'gone', cause: 'its thread was deleted in Codex' };
    case 'serverRequest/resolved':
      return { type: 'resolved', requestId: requestResolved.parse(params).requestId };
    default:
      return null;
  }
}

/** The same; a notification of a shape we do not know is logged and tells us nothing. */
export function readableNotice(
  threadId: string,
  method: string,
  params: unknown,
  log: CodexThreadOptions['log'],
): Notice | null {
  try {
    return readNotice(threadId, method, params);
  } catch (error) {
    log.write('notification-unreadable', { method, reason: errorMessage(error) });
    return null;
  }
}

export function isAbout(threadId: string, params: unknown): boolean {
  const about = aboutThread.safeParse(params);
  return about.success && (about.data.threadId ?? about.data.conversationId) === threadId;
}

/** Null for a thread that is not loaded. `systemError` is idle: the next `turn/start` works (Codex 0.171.0). */
export function toThreadStatus(wire: WireThreadStatus): ThreadStatus | null {
  if (wire.type === 'notLoaded') return null;
  if (wire.type !== 'active') return { type: 'idle' };
  return { type: 'active', waitingFor: waitingFor(wire.activeFlags ?? []) };
}

/** In the words of Claude Code's own rows. */
function waitingFor(flags: readonly string[]): string | null {
  if (flags.includes('waitingOnApproval')) return 'permission prompt';
  if (flags.includes('waitingOnUserInput')) return 'input needed';
  return null;
}

function event(harnessEvent: HarnessEvent): Notice {
  return { type: 'event', event: harnessEvent };
}
