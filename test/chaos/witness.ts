import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { type Loose, RawClient } from '../real/raw-client.ts';
import type { ScriptPeer } from '../real/script-peer.ts';
import type { World } from '../real/temp.ts';
import type { Received, StoreRows, UserItem } from './evidence.ts';
import type { Gap } from './schedule.ts';

/** Its types are not installed. */
const Database: Loose = createRequire(import.meta.url)('better-sqlite3');

/** The rows of the user's store, by statements of our own. */
export function readStore(world: World): StoreRows {
  return withStore(world, (all) => ({
    messages: all(`SELECT id, thread_id, peer, json_extract(content, '$.msgId') AS msgId FROM message`),
    claims: all('SELECT message_id, client_id, claimed_at_ms FROM claim'),
    outcomes: all('SELECT message_id, state FROM outcome'),
    replies: all('SELECT message_id, claimed_at_ms, noted_at_ms, delivery, delivered_at_ms FROM reply'),
  }));
}

/** How many recorded messages nobody has been told of yet. */
export function countOpen(world: World): number {
  return withStore(world, (all) => {
    const told = 'SELECT message_id FROM reply WHERE delivery IS NOT NULL';
    return all(`SELECT id FROM message WHERE id NOT IN (${told})`).length;
  });
}

const IN_GAP: Readonly<Record<Gap, string>> = {
  received: 'claim.message_id IS NULL AND outcome.message_id IS NULL',
  claimed: 'claim.message_id IS NOT NULL AND claim.turn_id IS NULL AND outcome.message_id IS NULL',
  taken: 'claim.turn_id IS NOT NULL AND outcome.message_id IS NULL',
  decided: 'outcome.message_id IS NOT NULL AND reply.message_id IS NULL',
  replying: 'reply.message_id IS NOT NULL AND reply.delivery IS NULL',
};

/** Resolves as soon as a message to this peer (null: to any) stands in the gap, or after `withinMs`. */
export async function untilInGap(world: World, gap: Gap, peer: string | null, withinMs: number) {
  const end = Date.now() + withinMs;
  const db = new Database(join(world.stateDir, 'peer', 'store.sqlite'), { readonly: true });
  try {
    const look = db.prepare(
      `SELECT 1 FROM message LEFT JOIN claim ON claim.message_id = id LEFT JOIN outcome ON outcome.message_id = id
       LEFT JOIN reply ON reply.message_id = id WHERE peer = coalesce(?, peer) AND ${IN_GAP[gap]}`,
    );
    while (look.get(peer) === undefined && Date.now() < end) await immediate();
  } finally {
    db.close();
  }
}

function withStore<T>({ stateDir }: World, read: (all: (sql: string) => Loose[]) => T): T {
  const db = new Database(join(stateDir, 'peer', 'store.sqlite'), { readonly: true });
  try {
    return read((sql) => db.prepare(sql).all());
  } finally {
    db.close();
  }
}

/** Every user item of these threads and of all others that Codex lists. */
export async function readUserItems(socketPath: string, threads: ReadonlySet<string>): Promise<UserItem[]> {
  await using client = await RawClient.connect(socketPath, 'witness');
  const listed = await pages(client, 'thread/list', {});
  const ids = new Set([...threads, ...listed.map(({ id }) => id)]);
  const items: UserItem[] = [];
  for (const threadId of ids) {
    const turns = await pages(client, 'thread/turns/list', { threadId, itemsView: 'full' });
    for (const turn of turns) {
      for (const item of turn.items) {
        if (item.type !== 'userMessage') continue;
        const text = item.content.map((part: Loose) => part.text ?? '').join('');
        items.push({
          threadId,
          turnId: turn.id,
          turnStatus: turn.status,
          clientId: item.clientId ?? null,
          text,
        });
      }
    }
  }
  return items;
}

async function pages(client: RawClient, method: string, params: object): Promise<Loose[]> {
  const all: Loose[] = [];
  let cursor: string | null = null;
  do {
    const page: Loose = await client.call(method, { ...params, cursor, limit: 50 });
    all.push(...page.data);
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
  return all;
}

/** The user frames that the senders got. */
export function readReceived(senders: readonly ScriptPeer[]): Received[] {
  return senders.flatMap((sender) =>
    sender.messages.map(({ atMs, frame, body }) => {
      const { kind = '', outcome = '', in_reply_to: inReplyTo = '' } = frame?.peerwire ?? {};
      return { sender: sender.name, atMs, kind, outcome, inReplyTo, body };
    }),
  );
}
