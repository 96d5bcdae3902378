import { StoreError } from './failure.ts';
import { memoryRecord } from './memory.ts';
import type { MessageRecord } from './record.ts';
import { openStore, type StoreOptions } from './store.ts';

/** Whether what was received outlives this process; if not, why not, as a clause for lists ("no store: …"). */
export type Durability = 'store' | { readonly none: string };

/**
 * Opens the record of a peer: the user's store, or the memory of this process where the store cannot be used.
 * @throws PeerError `thread-taken` that says by whom; `store-busy`; `unsafe-folder`
 */
export async function openRecord(
  options: StoreOptions,
): Promise<{ readonly record: MessageRecord; readonly durability: Durability }> {
  try {
    return { record: await openReadable(options), durability: 'store' };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { record: memoryRecord(), durability: { none: error.reason } };
  }
}

/** A damaged file can be opened; what is open in it must be readable too. */
async function openReadable(options: StoreOptions): Promise<MessageRecord> {
  const record = await openStore(options);
  try {
    await record.restore();
    return record;
  } catch (error) {
    await record.close();
    throw error;
  }
}
