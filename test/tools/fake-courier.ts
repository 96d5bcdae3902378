import { PeerError } from '../../src/errors.ts';
import type { Written } from '../../src/store/record.ts';
import type { Agent, Courier, Outgoing, Sent, Word } from '../../src/tools/courier.ts';

export function agent(name: string, pid = 100, changed: Partial<Agent> = {}): Agent {
  return {
    name,
    kind: 'codex',
    status: 'idle',
    waitingFor: null,
    model: null,
    cwd: null,
    tellsWhenIdle: true,
    address: { socketPath: `/s/${pid}.sock`, pid, procStart: '1', sessionId: null },
    ...changed,
  };
}

/** A message that a tool sent, and the ear that listens for what becomes of it. */
export interface FakeSend extends Outgoing {
  readonly to: Agent;
  hear(word: Word): void;
  isLeft: boolean;
  subscriptions: number;
}

export class FakeCourier implements Courier {
  readonly name = 'Sol';
  readonly sends: FakeSend[] = [];
  readonly toldLater: string[] = [];
  readonly waiting = new Set<string>();
  /** Calls that an earlier process of this peer made. */
  readonly madeBefore = new Set<string>();
  present: Agent[] = [agent('Luna')];
  isThreadIdle = false;
  /** What becomes of the next writes. */
  write: (send: FakeSend) => Promise<Written> = async () => ({ delivery: 'written' });

  async agents(): Promise<readonly Agent[]> {
    return this.present;
  }

  async find(to: string): Promise<Agent> {
    const found = this.present.find(({ name }) => name === to);
    if (found === undefined) throw new PeerError('no-such-peer', `No peer named "${to}" is running.`);
    return found;
  }

  async claimCall(callId: string): Promise<boolean> {
    return !this.madeBefore.has(callId);
  }

  send(to: Agent, message: Outgoing, hear: (word: Word) => void): Sent {
    const send: FakeSend = { ...message, to, hear, isLeft: false, subscriptions: 0 };
    this.sends.push(send);
    return {
      shortId: `id${this.sends.length}`,
      written: this.write(send),
      subscribe: () => {
        send.subscriptions++;
      },
      leave: () => {
        send.isLeft = true;
      },
    };
  }

  waitsForUs({ name }: Agent): boolean {
    return this.waiting.has(name);
  }

  whoBegan(turnId: string): string {
    return `whoever began ${turnId}`;
  }

  isIdle(): boolean {
    return this.isThreadIdle;
  }

  tellLater(line: string): void {
    this.toldLater.push(line);
  }
}
