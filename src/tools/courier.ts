import type { ReceiptStatus } from '../frames/message.ts';
import type { ReplyAddress, Written } from '../store/record.ts';

/** Another session that can be messaged, as the registry knows it at this moment. */
export interface Agent {
  readonly name: string;
  readonly kind: 'claude' | 'codex';
  /** Its harness's own word (idle, busy, waiting, …); null while it says nothing. */
  readonly status: string | null;
  readonly waitingFor: string | null;
  readonly model: string | null;
  readonly cwd: string | null;
  /** It gives idle notices. */
  readonly tellsWhenIdle: boolean;
  /** The process, which is what counts: a name can be taken over. */
  readonly address: ReplyAddress;
}

/** A message in the peer's name. */
export interface Outgoing {
  readonly text: string;
  /** The turn it is sent in. */
  readonly turnId: string;
  /** The call stays open until the answer, which then starts no turn. */
  readonly isAsk: boolean;
  /** Asks for one idle notice, after the message. */
  readonly wantsIdleNotice: boolean;
}

/** What is heard about a message after it was registered, in any order and number. */
export type Word =
  /** Only of an `ask`. `queue` gives it to the thread after all, as any other message. */
  | { readonly type: 'reply'; readonly isAnswer: boolean; readonly text: string; readonly queue: () => void }
  | { readonly type: 'receipt'; readonly status: ReceiptStatus; readonly reason: string | null }
  /** Only of an `ask`: it finished what it had to do. */
  | { readonly type: 'idle'; readonly detail: string | null }
  /** Only of an `ask`: its process has ended. */
  | { readonly type: 'gone' }
  /** Only of an `ask`: the other side asked us at the same moment. */
  | { readonly type: 'crossed' };

/** A message on its way. */
export interface Sent {
  /** What people and models are shown of its id. */
  readonly shortId: string;
  readonly written: Promise<Written>;
  /** Asks for an idle notice again. */
  subscribe(): void;
  /** Listens no longer: what is heard from now on reaches the model with a later message. */
  leave(): void;
}

/** The wrapper, as the tools see it: who is there, and the one way to write to them in the peer's name. */
export interface Courier {
  /** The peer's own name. */
  readonly name: string;
  /** Everybody else. */
  agents(): Promise<readonly Agent[]>;
  /**
   * The one agent of that name or pid, which takes connections now.
   * @throws PeerError that says why there is none
   */
  find(to: string): Promise<Agent>;
  /** Whether a call may act: false when a process of this peer that has ended since may have acted on it. */
  claimCall(callId: string): Promise<boolean>;
  /** Registers the message, then writes it; `hear` may be called before the first byte is out. */
  send(to: Agent, message: Outgoing, hear: (word: Word) => void): Sent;
  /** Whether the agent stands still in an `ask` to us. */
  waitsForUs(agent: Agent): boolean;
  /** Who gets the final answer of that turn, in words. */
  whoBegan(turnId: string): string;
  /** No turn runs that may still ask. */
  isIdle(): boolean;
  /** Tells the model something with the next message it is given. */
  tellLater(line: string): void;
}
