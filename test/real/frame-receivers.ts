import type { ModelRequest as ClaudeRequest } from './claude-model.ts';
import type { ClaudeSession } from './claude-session.ts';
import type { ClaudeTalk } from './claude-talk.ts';
import type { Draft, Written } from './frame-drafts.ts';
import type { Outcome, Variation } from './frame-variations.ts';
import type { ReceivedFrame, ScriptPeer, SendResult } from './script-peer.ts';
import type { Bench, Sol } from './sol.ts';

/** Somebody to whom frames are written: how often its model was shown a text. */
export interface Receiver {
  readonly socketPath: string;
  readonly sessionId: string;
  readonly token: string;
  timesShown(text: string): number;
}

export function claudeReceiver(talk: ClaudeTalk, session: ClaudeSession, token: string): Receiver {
  const { socketPath, sessionId } = session;
  const isIts = (request: ClaudeRequest) => request.sessionId === sessionId;
  // A request holds the whole conversation.
  const newest = () => talk.model.requests.findLast(isIts);
  const texts = () => talk.model.textsOf(newest() ?? ({ messages: [] } as never)).join('\n');
  return { socketPath, sessionId, token, timesShown: (text) => texts().split(text).length - 1 };
}

export function peerReceiver(
  { model }: Bench,
  { threadId }: Sol,
  socketPath: string,
  token: string,
): Receiver {
  const timesShown = (text: string) => model.requests.filter((request) => request.text.includes(text)).length;
  return { socketPath, sessionId: threadId, token, timesShown };
}

/** A variation on its way to one receiver. */
export class Attempt {
  readonly variation: Variation;
  readonly #sender: ScriptPeer;
  readonly #receiver: Receiver;
  readonly #draft: Draft;
  readonly #msgIds = new Set<string>();
  readonly ends: SendResult[] = [];

  constructor(variation: Variation, sender: ScriptPeer, other: ScriptPeer, receiver: Receiver) {
    this.variation = variation;
    this.#sender = sender;
    this.#receiver = receiver;
    const { sessionId, token } = receiver;
    const to = `uds:${receiver.socketPath}`;
    this.#draft = {
      text: crypto.randomUUID(),
      from: sender.address,
      to,
      other: other.address,
      token,
      sessionId,
    };
  }

  async write(): Promise<void> {
    for (const one of this.variation.write(this.#draft)) {
      const written: Written = typeof one === 'string' ? { bytes: one } : one;
      for (const [, id = ''] of written.bytes.matchAll(/"msg_id":"([^"]+)"/g)) this.#msgIds.add(id);
      const withinMs = written.holdOpen ? 1_000 : 10_000;
      this.ends.push(
        await this.#sender.sendBytes({ socket: this.#receiver.socketPath, ...written, withinMs }),
      );
    }
  }

  get outcome(): Outcome {
    const times = this.#receiver.timesShown(this.#draft.text);
    const shown = ['not shown', 'shown', 'shown twice'][times] ?? `shown ${times} times`;
    const errors = this.ends.flatMap(({ error }) => error ?? []);
    const ended = errors.map((error) => (error === 'NOHANGUP' ? 'stays open' : 'cut off'));
    return [shown, ...ended, ...this.#cameBack()].join(', ');
  }

  #cameBack(): string[] {
    return this.#sender.received.filter((frame) => this.#isAboutIt(frame)).map(wordsOf);
  }

  #isAboutIt({ frame }: ReceivedFrame): boolean {
    const ids = [frame?.orig_msg_id, ...((frame?.dropped_msg_ids as string[] | undefined) ?? [])];
    return frame?.type === 'control' && ids.some((id) => this.#msgIds.has(String(id)));
  }
}

function wordsOf({ frame }: ReceivedFrame): string {
  if (frame?.action === 'peer_idle_notice') return `notice: ${frame.state}`;
  const { status, status_detail: detail, drop_reason: dropped } = frame ?? {};
  return [status, detail, dropped].filter(Boolean).join(': ');
}
