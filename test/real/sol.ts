import type { CodexHomeOptions } from './codex-home.ts';
import type { CodexModel } from './codex-model.ts';
import { type CodexServer, openCodex } from './codex-server.ts';
import { type PeerProcess, startPeer } from './peer-process.ts';
import { RawClient } from './raw-client.ts';
import { ScriptPeer } from './script-peer.ts';
import type { ReceivedFrame } from './script-peer-types.ts';
import type { World } from './temp.ts';

/** One scripted model and one private Codex server, for any number of peers. */
export interface Bench {
  readonly world: World;
  readonly model: CodexModel;
  readonly server: CodexServer;
}

export async function openBench(world: World, options: CodexHomeOptions = {}): Promise<Bench> {
  return { world, ...(await openCodex(world, options)) };
}

/** A headless peer under its own name, with the thread it serves. */
export interface Sol {
  readonly name: string;
  readonly process: PeerProcess;
  readonly threadId: string;
}

let count = 0;

/** Opens a headless peer; without a name each one is another, on a thread of its own. */
export async function openSol(
  { world }: Pick<Bench, 'world'>,
  args: readonly string[] = [],
  name = `Sol ${++count}`,
): Promise<Sol> {
  const options = { env: world.env, cwd: world.work, ready: / is open/ };
  const process = world.own(await startPeer(['open', name, '--headless', ...args], options));
  const threadId = /thread ([0-9a-f-]{36})/.exec(process.stdout)?.[1] ?? '';
  return { name, process, threadId };
}

/** A cheap native peer that writes to Sol and keeps what comes back. */
export async function openSender({ world }: Pick<Bench, 'world'>, name: string): Promise<ScriptPeer> {
  return world.own(await ScriptPeer.spawn({ env: world.env, name }));
}

/** Another client of the same server, or of the daemon. */
export async function openRawClient({ world, server }: Reachable): Promise<RawClient> {
  const client = await RawClient.connect(server.socketPath);
  world.own({ [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() });
  return client;
}

interface Reachable {
  readonly world: World;
  readonly server: { readonly socketPath: string };
}

/** The text inside the envelope of a received message. */
export function bodyOf(frame: ReceivedFrame): string {
  return (
    /^<cross-session-message[^>]*>\n([\s\S]*)\n<\/cross-session-message>$/.exec(frame.content)?.[1] ??
    frame.content
  );
}

/** Our mark on a received message. */
export function markOf(frame: ReceivedFrame): { kind?: string; in_reply_to?: string; outcome?: string } {
  return frame.frame?.peerwire ?? {};
}

/** The one answer or note to a message, without the line that names it. Fails when a second one is there. */
export async function replyTo(sender: ScriptPeer, msgId: string, timeoutMs = 15_000): Promise<Told> {
  const isReply = (frame: ReceivedFrame) => markOf(frame).in_reply_to === msgId;
  const frame = await sender.waitForFrame(isReply, timeoutMs);
  const [body, label] = split(bodyOf(frame), msgId);
  return { kind: markOf(frame).kind ?? '', outcome: markOf(frame).outcome ?? '', body, label };
}

export interface Told {
  readonly kind: string;
  readonly outcome: string;
  readonly body: string;
  /** What the last line says after the id. */
  readonly label: string;
}

/** How many answers and notes came for a message. */
export function repliesTo(sender: ScriptPeer, msgId: string): number {
  return sender.messages.filter((frame) => markOf(frame).in_reply_to === msgId).length;
}

function split(body: string, msgId: string): [string, string] {
  const last = new RegExp(`\\n\\n\\(answer to ${msgId.slice(0, 8)}(?:, (.*))?\\)$`).exec(body);
  return last === null ? [body, ''] : [body.slice(0, last.index), last[1] ?? ''];
}
