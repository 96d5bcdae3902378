import type { ReceiptStatus } from '../frames/message.ts';
import type { ToolResult } from '../harness/harness.ts';
import type { Agent, Courier, Word } from './courier.ts';
import { done, failed, receiptSentence } from './sentences.ts';

/** A receipt comes 0–18 ms after the write when there is one (Claude Code 2.1.332). */
export const RECEIPT_MS = 400;

export interface SendMessageArguments {
  readonly to: string;
  readonly text: string;
  readonly notifyWhenIdle: boolean;
}

/**
 * Sends a message and says what is known of it within 400 ms.
 * @throws PeerError when there is nobody to send it to
 */
export async function sendMessage(
  courier: Courier,
  turnId: string,
  { to, text, notifyWhenIdle }: SendMessageArguments,
): Promise<ToolResult> {
  const agent = await courier.find(to);
  const receipt = firstReceipt();
  const wantsIdleNotice = notifyWhenIdle && agent.tellsWhenIdle;
  const sent = courier.send(agent, { text, turnId, isAsk: false, wantsIdleNotice }, receipt.hear);
  const written = await sent.written;
  if (written.delivery !== 'written') {
    sent.leave();
    return failed(written.reason);
  }
  const status = await receipt.within(RECEIPT_MS);
  sent.leave();
  if (status !== null && status.status !== 'delivered') {
    const message = `Your message ${sent.shortId} to ${agent.name}`;
    const said = receiptSentence(message, status.status, status.reason);
    return status.status === 'held' ? done(`${said} You will be told what becomes of it.`) : failed(said);
  }
  return done(
    [sentLine(agent, sent.shortId, courier.whoBegan(turnId)), ...idleLine(agent, notifyWhenIdle)].join(' '),
  );
}

function sentLine({ name }: Agent, shortId: string, beganBy: string): string {
  return `Sent to ${name} (id ${shortId}); whether it was read is not known. Nothing waits for an answer: one comes later as a message of its own. The final answer of this turn goes to ${beganBy}.`;
}

function idleLine({ name, tellsWhenIdle }: Agent, isWanted: boolean): string[] {
  if (!isWanted) return [];
  if (!tellsWhenIdle) return [`${name} gives no idle notices, so you will not be told when it is idle.`];
  return [`You will be told when ${name} is next idle, with the next message you get.`];
}

interface Receipt {
  readonly status: ReceiptStatus;
  readonly reason: string | null;
}

/** The first receipt, which can come before the write has ended. */
function firstReceipt() {
  let settle: (receipt: Receipt | null) => void = () => {};
  const first = new Promise<Receipt | null>((resolve) => {
    settle = resolve;
  });
  return {
    hear: (word: Word) => {
      if (word.type === 'receipt') settle(word);
    },
    within(delayMs: number): Promise<Receipt | null> {
      const timer = setTimeout(() => settle(null), delayMs);
      return first.finally(() => clearTimeout(timer));
    },
  };
}
