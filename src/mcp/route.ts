import { callControl } from '../control/client.ts';
import { findControlSocket } from '../control/place.ts';
import { PeerError } from '../errors.ts';
import type { ToolResult } from '../harness/harness.ts';
import { liveRows } from '../registry/live.ts';
import { places } from '../registry/places.ts';
import { BRIDGE, isListed, type Row } from '../registry/row.ts';
import type { ToolName } from '../tools/definitions.ts';
import { agentLine } from '../tools/list-agents.ts';
import { agents } from '../wrapper/agents.ts';
import type { Caller } from './caller.ts';

export interface RoutedCall {
  readonly caller: Caller;
  readonly tool: ToolName;
  readonly arguments: unknown;
  /** The client has given up. */
  readonly signal: AbortSignal;
}

/**
 * Hands a call to the wrapper of the peer whose thread calls, which acts in the peer's name. Who that is is looked
 * up on every call: a peer can be closed and opened again while this server runs. What goes wrong is a result that
 * the model can read; rejects only when the client has given up.
 */
export async function route(call: RoutedCall, env: NodeJS.ProcessEnv): Promise<ToolResult> {
  const { sessionsDir } = places(env);
  const { threadId } = call.caller;
  try {
    const row = threadId === null ? null : await findPeerOf(threadId, sessionsDir);
    if (row !== null && threadId !== null) return await hand(call, threadId, row);
    if (call.tool === 'list_agents') return await listOthers(sessionsDir);
    return failed(threadId === null ? UNBOUND : notOpen(threadId, sessionsDir));
  } catch (error) {
    if (error instanceof PeerError && error.word !== 'interrupted') return failed(error.message);
    throw error;
  }
}

/** The wrapper that serves the thread now, or is about to. */
async function findPeerOf(threadId: string, sessionsDir: string): Promise<Row | null> {
  const rows = await liveRows(sessionsDir);
  const ours = rows.filter((row) => row.bridge === BRIDGE && row.sessionId === threadId);
  return ours.find(isListed) ?? ours[0] ?? null;
}

async function hand(call: RoutedCall, threadId: string, row: Row): Promise<ToolResult> {
  const { caller, tool, signal } = call;
  const { name, pid } = row;
  if (!isListed(row)) return failed(`Nothing was done: ${name} is still opening. Try again in a moment.`);
  const socketPath = findControlSocket(pid);
  if (socketPath === null) return failed(noSocket(name));
  const params = {
    threadId,
    tool,
    arguments: call.arguments,
    ...(caller.turnId !== null && { turnId: caller.turnId }),
    ...(caller.callId !== null && { callId: caller.callId }),
  };
  try {
    return await callControl({ socketPath, method: 'tool', params, signal });
  } catch (error) {
    const word = error instanceof PeerError ? error.word : null;
    if (word === 'not-sent') return failed(`Nothing was done: ${name} is closing. Try again in a moment.`);
    if (word === 'maybe-written') return failed(endedEarly(name));
    throw error;
  }
}

async function listOthers(sessionsDir: string): Promise<ToolResult> {
  const others = await agents(sessionsDir);
  const you = 'You are not open as a peer, so you can see the others and message nobody.';
  if (others.length === 0) return { text: `${you} Nobody is here.`, success: true };
  return { text: [`${you} Here are:`, ...others.map(agentLine)].join('\n'), success: true };
}

const UNBOUND =
  'Nothing was done: the call does not say which session it comes from, so only list_agents works here.';

function notOpen(threadId: string, sessionsDir: string): string {
  const what = 'Nothing was done: this thread is not open as a peer, so it has no name to send in';
  return `${what} (looked in ${sessionsDir}). A person can open it: peer open <Name> --thread ${threadId}`;
}

function noSocket(name: string): string {
  return `Nothing was done: ${name} is open but takes no tool calls. A person can close and open it again.`;
}

function endedEarly(name: string): string {
  return `${name} ended before it answered: whether anything was sent is not known. Do not send it again unasked.`;
}

function failed(text: string): ToolResult {
  return { text, success: false };
}
