import { PeerError } from '../errors.ts';
import { type RpcClient, RpcError } from '../rpc/client.ts';
import { initializeResponse, threadResponse } from '../rpc/protocol.ts';
import { UNUSED_NOTIFICATIONS } from './codex-events.ts';
import type { CodexThreadOptions } from './codex-options.ts';
import type { AskedSettings } from './codex-rights.ts';
import type { ThreadView } from './codex-view.ts';

/** Introduces us; resolves with the version label of the daemon. */
export async function initialize(rpc: RpcClient, clientVersion: string): Promise<string> {
  const result = await rpc.call('initialize', {
    clientInfo: { name: 'peerwire', title: null, version: clientVersion },
    capabilities: {
      experimentalApi: true,
      requestAttestation: false,
      optOutNotificationMethods: UNUSED_NOTIFICATIONS,
    },
  });
  rpc.notify('initialized');
  return versionLabel(initializeResponse.parse(result).userAgent);
}

/**
 * Starts a thread and names it: until it has a name or a turn, nobody else (the pane included) can resume
 * it. Its sandbox is read-only until `repairSettings`: started with a wider one, Codex 0.171.0 notes that the folder
 * is trusted, which is a person's decision. `onId` is called in frame order, before anything is heard about the thread. Resolves with its id.
 */
export async function startThread(
  rpc: RpcClient,
  view: ThreadView,
  options: CodexThreadOptions,
  cwd: string,
  onId: (id: string) => void,
): Promise<string> {
  const adopt = view.expectResponse();
  let threadId = '';
  await rpc.call(
    'thread/start',
    {
      ...overrides(options.asked),
      sandbox: 'read-only',
      cwd,
      threadSource: 'user',
      ...(options.dynamicTools === undefined ? {} : { dynamicTools: options.dynamicTools }),
    },
    {
      inOrder: (result) => {
        threadId = threadResponse.parse(result).thread.id;
        adopt(result);
        onId(threadId);
      },
    },
  );
  await rpc.call('thread/name/set', { threadId, name: options.name });
  return threadId;
}

/**
 * Loads the thread where it is not, and subscribes to it. `cwd` is sent only when it was asked for: it moves
 * the writable root of the thread.
 */
export async function resumeThread(
  rpc: RpcClient,
  view: ThreadView,
  threadId: string,
  asked: AskedSettings,
): Promise<void> {
  await rpc.call(
    'thread/resume',
    {
      threadId,
      excludeTurns: true,
      ...overrides(asked),
      ...(asked.cwd === undefined ? {} : { cwd: asked.cwd }),
    },
    { inOrder: view.expectResponse() },
  );
}

/**
 * Writes into the daemon's config what the TUI would ask a person: that the thread's folder is trusted. Neither its
 * flags nor its `-c` can say so (Codex 0.171.0). Rejects with PeerError `untrusted-folder`.
 */
export async function trustFolder(rpc: RpcClient, view: ThreadView): Promise<void> {
  const cwd = view.settings?.cwd ?? '';
  try {
    // A key of TOML, in which a basic string is quoted and escaped as in JSON.
    const keyPath = `projects.${JSON.stringify(cwd)}.trust_level`;
    await rpc.call('config/value/write', { keyPath, value: 'trusted', mergeStrategy: 'upsert' });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw new PeerError(
      'untrusted-folder',
      `Codex did not note that ${cwd} is trusted: ${error.message}. Nothing was opened; without --trust its TUI asks.`,
      { cause: error },
    );
  }
}

/**
 * Puts settings right that are not as asked, and reads them back: overrides of a resume count only while
 * nobody is subscribed and no turn runs (Codex 0.171.0). What cannot be put right is left to the caller.
 */
export async function repairSettings(
  rpc: RpcClient,
  view: ThreadView,
  threadId: string,
  options: CodexThreadOptions,
): Promise<void> {
  const first = view.review();
  if (!first.hasDifferences) return;
  options.log.write('settings-differ', { repair: first.repair });
  await rpc.call('thread/settings/update', { threadId, ...first.repair });
  await resumeThread(rpc, view, threadId, options.asked);
  if (view.review().hasDifferences && view.status.type === 'idle') {
    await rpc.call('thread/unsubscribe', { threadId });
    await resumeThread(rpc, view, threadId, options.asked);
  }
  const rest = view.review();
  if (rest.hasDifferences) options.log.write('settings-still-differ', { repair: rest.repair });
}

export function rightsTooWide(name: string, reason: string): PeerError {
  return new PeerError(
    'rights-too-wide',
    `No message is given to ${name}, whose thread may do more than asked: ${reason}. Narrow it in Codex (/permissions), or open ${name} with those rights.`,
  );
}

function overrides(asked: AskedSettings): Record<string, unknown> {
  return {
    sandbox: asked.sandbox,
    approvalPolicy: asked.approval,
    ...(asked.model === undefined ? {} : { model: asked.model }),
    ...(asked.effort === undefined ? {} : { config: { model_reasoning_effort: asked.effort } }),
  };
}

/** `codex-tui/0.171.0 (Debian 12; …)`: the name is that of the daemon's first client, only the version counts. */
function versionLabel(userAgent: string): string {
  return /\/(\d[^\s(]*)/.exec(userAgent)?.[1] ?? 'unknown';
}
