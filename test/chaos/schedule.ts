import { randomFrom } from '../random.ts';
import type { Priority } from './evidence.ts';

/**
 * What a kill waits for: nothing, a message being written, a model asked, or a message that stands in the record
 * between two steps. Those gaps last milliseconds, which a moment chosen by chance seldom meets.
 */
export type Moment = 'any' | 'message' | 'model' | Gap;

export type Gap = 'received' | 'claimed' | 'taken' | 'decided' | 'replying';

const GAPS: readonly Gap[] = ['received', 'claimed', 'taken', 'decided', 'replying'];
const MOMENTS: readonly Moment[] = ['any', 'message', 'model', ...GAPS];

/** What happens when, counted from the begin of the run. */
export type Action = { readonly atMs: number } & (
  | {
      readonly type: 'send';
      readonly sender: number;
      readonly peer: number;
      readonly priority: Priority;
      readonly marker: string;
    }
  | {
      readonly type: 'daemon';
      readonly what: 'SIGKILL' | 'SIGTERM' | 'restart';
      readonly moment: Moment;
      /** After so long its owner starts it again; null leaves that to the peers. */
      readonly startAfterMs: number | null;
    }
  | {
      readonly type: 'wrapper';
      readonly peer: number;
      readonly what: 'SIGKILL' | 'SIGTERM';
      readonly moment: Moment;
      readonly openAfterMs: number;
    }
  | { readonly type: 'sender'; readonly sender: number }
  | { readonly type: 'cut' }
  | { readonly type: 'stall'; readonly forMs: number }
);

export interface ScheduleOptions {
  readonly seed: number;
  readonly durationMs: number;
  readonly messages: number;
  readonly faults: number;
  readonly peers: number;
  readonly senders: number;
}

/** The same for the same seed: messages and faults spread over the time, in order. */
export function makeSchedule({ seed, durationMs, messages, faults, ...cast }: ScheduleOptions): Action[] {
  const random = randomFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = <T>(things: readonly T[]) => things[below(things.length)]!;
  const atMs = () => below(durationMs);
  const tag = (seed >>> 0).toString(16).padStart(4, '0').slice(-4);
  const sends = Array.from({ length: messages }, (_, at): Action => {
    const priority = oneOf<Priority>(['next', 'next', 'next', 'next', 'now', 'later']);
    const marker = `mk-${tag}-${String(at).padStart(4, '0')}`;
    return {
      type: 'send',
      atMs: atMs(),
      sender: below(cast.senders),
      peer: below(cast.peers),
      priority,
      marker,
    };
  });
  const moment = () => oneOf(MOMENTS);
  const fault = (): Action => {
    const kind = random();
    if (kind < 0.4) {
      const what = random() < 0.7 ? 'SIGKILL' : 'SIGTERM';
      const about = { peer: below(cast.peers), what, moment: moment() } as const;
      return { type: 'wrapper', atMs: atMs(), ...about, openAfterMs: below(800) };
    }
    if (kind < 0.6) {
      const what = oneOf(['SIGKILL', 'SIGTERM', 'restart', 'restart'] as const);
      const startAfterMs = random() < 0.7 ? below(1_500) : null;
      return { type: 'daemon', atMs: atMs(), what, moment: moment(), startAfterMs };
    }
    if (kind < 0.7) return { type: 'sender', atMs: atMs(), sender: below(cast.senders) };
    if (kind < 0.85) return { type: 'cut', atMs: atMs() };
    return { type: 'stall', atMs: atMs(), forMs: 200 + below(1_800) };
  };
  return [...sends, ...Array.from({ length: faults }, fault)].sort((a, b) => a.atMs - b.atMs);
}
