import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { PeerError } from '../../src/errors.ts';
import { openRecord } from '../../src/store/open.ts';
import type { MessageRecord } from '../../src/store/record.ts';
import { openStore } from '../../src/store/store.ts';
import { advance, STEPS, type Step } from './steps.ts';

/** What a process of the tests is told to do; it says one word or id a line on stdout. */
export type Task = { readonly stateDir: string; readonly threadId: string } & (
  | { readonly do: 'hold'; readonly id: string; readonly last: Step }
  | { readonly do: 'flood' }
  | { readonly do: 'write'; readonly writers: number; readonly messages: number }
  | { readonly do: 'open'; readonly uid?: number }
);

const OWN_END_MS = 60_000;

async function main(task: Task): Promise<void> {
  switch (task.do) {
    case 'hold':
      await advance(await open(task, task.threadId), task.id, task.last);
      say('done');
      return delay(OWN_END_MS);
    case 'flood':
      return flood(await open(task, task.threadId));
    case 'write':
      return write(task);
    case 'open':
      return tell(task);
  }
}

function open({ stateDir }: Task, threadId: string): Promise<MessageRecord> {
  return openStore({ stateDir, threadId, name: 'Sol', instance: `${process.pid} ${threadId}` });
}

/** Message after message, each to a step of its own, until somebody kills us. */
async function flood(record: MessageRecord): Promise<void> {
  for (let index = 0; ; index++) {
    const step = STEPS[index % STEPS.length]!;
    const id = `${process.pid}-${index}`;
    await advance(record, id, step);
    say(`${id} ${step}`);
  }
}

/** Many peers of one process, which all begin at a signal. */
async function write(task: Task & { do: 'write' }): Promise<void> {
  const threads = Array.from({ length: task.writers }, (_, index) => `${task.threadId} ${index}`);
  const records = await Promise.all(threads.map((thread) => open(task, thread)));
  say('ready');
  await Promise.race([once(process, 'SIGUSR2'), delay(OWN_END_MS)]);
  await Promise.all(
    records.map(async (record, writer) => {
      for (let index = 0; index < task.messages; index++) {
        await advance(record, `${threads[writer]} ${index}`, 'receive');
      }
      await record.close();
    }),
  );
  say('done');
}

async function tell({ uid, ...task }: Task & { do: 'open' }): Promise<void> {
  if (uid !== undefined) process.setuid!(uid);
  try {
    const { durability } = await openRecord({ ...task, name: 'Sol', instance: `${process.pid}` });
    say(durability === 'store' ? 'store' : durability.none);
  } catch (error) {
    say(error instanceof PeerError ? error.word : String(error));
  }
  await delay(OWN_END_MS);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

// A signal before `once` would end us.
process.on('SIGUSR2', () => {});
main(JSON.parse(process.argv[1]!) as Task).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
