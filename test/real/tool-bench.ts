import type { CodexModel, ModelRequest } from './codex-model.ts';
import { type Step, script } from './model-script.ts';
import type { ReceivedFrame, ScriptPeer } from './script-peer.ts';
import { type Bench, openBench, openSender, openSol, replyTo, type Sol } from './sol.ts';
import type { World } from './temp.ts';

/** A call of one of the peer's own tools. */
export function call(tool: string, args: object = {}): Step {
  return { call: tool, args };
}

/** Sol, alpha who briefs it, and beta whom it writes to. */
export class ToolBench {
  readonly bench: Bench;
  readonly sol: Sol;
  readonly alpha: ScriptPeer;
  readonly beta: ScriptPeer;

  private constructor(bench: Bench, sol: Sol, alpha: ScriptPeer, beta: ScriptPeer) {
    this.bench = bench;
    this.sol = sol;
    this.alpha = alpha;
    this.beta = beta;
  }

  static async open(world: World): Promise<ToolBench> {
    const bench = await openBench(world);
    const alpha = await openSender(bench, 'alpha');
    const beta = await openSender(bench, 'beta');
    return new ToolBench(bench, await openSol(bench, [], 'Sol'), alpha, beta);
  }

  get model(): CodexModel {
    return this.bench.model;
  }

  /** alpha's brief, on which Sol's model makes these calls one after the other. */
  async brief(words: string, ...calls: readonly Step[]): Promise<string> {
    const text = `${words} ${script(calls.map((one) => [one]))}`;
    return (await this.alpha.send({ to: 'Sol', text })).msgId;
  }

  /** The result of the last call of that brief, as Sol's model was given it. */
  async result(msgId: string): Promise<string> {
    await replyTo(this.alpha, msgId);
    const request = this.model.requests.findLast((one) => outputOf(one) !== undefined);
    return String(request && outputOf(request));
  }

  /** The texts that models were asked with since `from`. */
  askedSince(from: number): string[] {
    return this.model.requests.slice(from).map(({ text }) => text);
  }

  /** beta's next message after this moment. */
  nextAtBeta(): Promise<ReceivedFrame> {
    const from = this.beta.received.length;
    return this.beta.waitForFrame(({ frame }) => frame?.type === 'user', 10_000, from);
  }

  /** The first request for an idle notice that comes to beta after `from` frames. */
  subscriptionAtBeta(from: number): Promise<ReceivedFrame> {
    return this.beta.waitForFrame(({ frame }) => frame?.action === 'notify_when_idle', 10_000, from);
  }

  /** What beta says became of a message. */
  async receipt(of: ReceivedFrame, status: string, fields: object = {}): Promise<void> {
    const about = { orig_msg_id: of.frame?.msg_id, status, reason: 'says beta', from: this.beta.address };
    await this.beta.control({
      to: 'Sol',
      fields: { action: 'peer_message_status', ...about, msgV: 1, ...fields },
    });
  }

  async idleNotice(of: ReceivedFrame, state: string, detail?: string): Promise<void> {
    const about = { orig_msg_id: of.frame?.msg_id, state, detail, from: this.beta.address };
    await this.beta.control({ to: 'Sol', fields: { action: 'peer_idle_notice', ...about, msgV: 1 } });
  }
}

function outputOf({ input }: ModelRequest): unknown {
  return input.at(-1)?.output;
}
