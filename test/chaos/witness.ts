import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Loose, RawClient } from '../real/raw-client.ts';
import type { ScriptPeer } from '../real/script-peer.ts';
import type { World } from '../real/temp.ts';
import type { Received, StoreRows, UserItem } from './evidence.ts';

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
