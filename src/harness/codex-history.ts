import type { RpcClient } from '../rpc/client.ts';
import { itemsPage, turnsPage, type WireItem, type WireTurn } from '../rpc/protocol.ts';
import type { Item, Turn, TurnStatus } from './harness.ts';

const TURNS_PER_PAGE = 50;
/** The server's maximum (Codex 0.171.0); its default is 25. */
const ITEMS_PER_PAGE = 100;

const TURN_STATUSES: readonly string[] = ['inProgress', 'completed', 'interrupted', 'failed'];
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;

export interface HistorySource {
  readonly rpc: RpcClient;
  readonly threadId: string;
  /** Legacy threads refuse `thread/items/list`. */
  readonly isLegacy: boolean;
  /** The thread is idle and has been for a while: the end of every turn is stored. */
  readonly hasRested: () => boolean;
}

/**
 * Reads the turns from `sinceTurnId` (included; null: from the first) to the newest, oldest first, paged to
 * the end. A turn's status is read before its items, so a turn that reads as ended has all its items.
 *
 * Codex 0.171.0 lists a turn whose end is not stored as `interrupted` whenever the thread is not active. After a
 * crash that is final; but one that fails reads so between the thread's `systemError` and its own end (up to 350 ms
 * seen), so until the thread has rested the newest turn is taken for a running one.
 */
export async function readTurns(source: HistorySource, sinceTurnId: string | null): Promise<Turn[]> {
  const newestFirst = await listTurns(source, sinceTurnId);
  const lastToEnd = source.hasRested() ? undefined : newestFirst[0];
  const turns: Turn[] = [];
  for (const turn of newestFirst.reverse()) {
    const mayEndLater = turn === lastToEnd && turn.status === 'interrupted' && !turn.completedAt;
    const read = toTurn(turn, await itemsOf(source, turn));
    turns.push(mayEndLater ? { ...read, status: 'inProgress' } : read);
  }
  return turns;
}

/** The newest turn's id and status, as `thread/turns/list {limit: 1}` reports it; null on an empty thread. */
export function newestTurn(result: unknown): { readonly id: string; readonly status: TurnStatus } | null {
  const [turn] = turnsPage.parse(result).data;
  return turn === undefined ? null : { id: turn.id, status: turnStatus(turn.status) };
}

/** A status word to come is treated as running: an ended turn is also seen by the thread's idle status. */
export function turnStatus(word: string): TurnStatus {
  return TURN_STATUSES.includes(word) ? (word as TurnStatus) : 'inProgress';
}

async function listTurns(source: HistorySource, sinceTurnId: string | null): Promise<WireTurn[]> {
  const found: WireTurn[] = [];
  let cursor: string | null = null;
  do {
    const page = turnsPage.parse(
      await source.rpc.call('thread/turns/list', {
        threadId: source.threadId,
        cursor,
        limit: TURNS_PER_PAGE,
        sortDirection: 'desc',
        itemsView: source.isLegacy ? 'full' : 'notLoaded',
      }),
    );
    for (const turn of page.data) {
      if (sinceTurnId !== null && isOlder(turn.id, sinceTurnId)) return found;
      found.push(turn);
      if (turn.id === sinceTurnId) return found;
    }
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
  return found;
}

/** Turn ids are UUIDv7, so they sort by time: a turn that was reverted away does not cost the whole history. */
function isOlder(id: string, than: string): boolean {
  return UUID_V7.test(id) && UUID_V7.test(than) && id < than;
}

async function itemsOf(source: HistorySource, turn: WireTurn): Promise<WireItem[]> {
  if (source.isLegacy) return turn.items ?? [];
  const items: WireItem[] = [];
  let cursor: string | null = null;
  do {
    const page = itemsPage.parse(
      await source.rpc.call('thread/items/list', {
        threadId: source.threadId,
        turnId: turn.id,
        cursor,
        limit: ITEMS_PER_PAGE,
      }),
    );
    items.push(...page.data.map((entry) => entry.item));
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
  return items;
}

function toTurn(turn: WireTurn, items: readonly WireItem[]): Turn {
  return {
    id: turn.id,
    rootTurnId: turn.rootTurnId ?? turn.id,
    status: turnStatus(turn.status),
    error: turn.error ? { message: turn.error.message, kind: errorKind(turn.error.codexErrorInfo) } : null,
    items: items.map(toItem),
  };
}

function toItem(item: WireItem): Item {
  switch (item.type) {
    case 'userMessage':
      return { type: 'user', clientId: item.clientId ?? null };
    case 'agentMessage':
      return { type: 'agent', text: item.text ?? '', phase: phaseOf(item) };
    case 'functionCallOutput':
      return { type: 'toolOutput', name: item.name ?? '' };
    default:
      return { type: 'other' };
  }
}

/** A word in passing (tool `send_message_to_user_async`) calls itself `final_answer` (Codex 0.171.0). */
function phaseOf(item: WireItem): string | null {
  return item.delivery === 'async' ? 'commentary' : (item.phase ?? null);
}

/** A word, or an object whose one key is the word (`{"httpConnectionFailed": …}`). */
function errorKind(info: string | Readonly<Record<string, unknown>> | null | undefined): string {
  if (typeof info === 'string') return info;
  return Object.keys(info ?? {})[0] ?? 'other';
}
