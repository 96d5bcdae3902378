import { randomUUID } from 'node:crypto';
import { stateDir } from '../os/folders.ts';
import type { Log } from '../os/log.ts';
import { isSameProcess } from '../os/proc.ts';
import { liveRows } from '../registry/live.ts';
import { openRecord } from '../store/open.ts';
import type { Message } from '../store/record.ts';
import type { OpenOptions } from './options.ts';

/** The record of the thread, and what an earlier wrapper left open in it. */
export async function openRecordOf({ name, env }: OpenOptions, threadId: string, log: Log) {
  const opening = { stateDir: stateDir(env), threadId, name, instance: randomUUID() };
  const { record, durability } = await openRecord(opening);
  if (durability !== 'store') log.write('no-store', { reason: durability.none });
  const restored = await record.restore();
  const count = restored.claimed.length + restored.unclaimed.length;
  if (count > 0)
    log.write('restored', { claimed: restored.claimed.length, unclaimed: restored.unclaimed.length });
  return { record, restored, durability };
}

/** Whether a sender would still read an answer: its process lives, or its session does in another one. */
export async function stillWaiting(sessionsDir: string): Promise<(message: Message) => boolean> {
  const rows = await liveRows(sessionsDir);
  return ({ sender: { replyTo } }) => {
    if (replyTo === null || isSameProcess(replyTo.pid, replyTo.procStart ?? undefined)) return true;
    return replyTo.sessionId !== null && rows.some((row) => row.sessionId === replyTo.sessionId);
  };
}
