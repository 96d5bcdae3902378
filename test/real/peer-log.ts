import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { World } from './temp.ts';

export interface LogLine {
  readonly event: string;
  readonly [field: string]: unknown;
}

/** The log of a wrapped peer so far, oldest line first. */
export function peerLog(world: World, name: string): LogLine[] {
  const text = readFileSync(join(world.stateDir, 'peer', 'logs', `${name}.log`), 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as LogLine);
}

/** What the peer's log says became of telling the outcome of a message, whose `msg_id` begins so. */
export function deliveriesOf(world: World, name: string, msgId: string): unknown[] {
  const log = peerLog(world, name);
  const received = log.find((line) => line.event === 'received' && String(line.msgId).startsWith(msgId));
  const replies = log.filter(({ event, id }) => event === 'reply' && id === received?.id);
  return replies.map(({ delivery }) => delivery);
}
