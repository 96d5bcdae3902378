import type { PeerMessage, ReceivedFrame } from '../real/script-peer.ts';
import { ScriptPeer } from '../real/script-peer.ts';
import type { World } from '../real/temp.ts';

/** A scripted peer that looks like one of our wrappers. */
export async function wrappedPeer(world: World, name: string, row: object = {}): Promise<ScriptPeer> {
  return world.own(await ScriptPeer.spawn({ env: world.env, name, row: { bridge: 'peerwire', ...row } }));
}

/** A scripted peer that looks like a Claude Code session. */
export async function claudePeer(world: World, name: string, row: object = {}): Promise<ScriptPeer> {
  const peerFeatures = ['notify_idle', 'reply_across_default_dirs'];
  return world.own(await ScriptPeer.spawn({ env: world.env, name, row: { peerFeatures, ...row } }));
}

/** What a wrapper writes back: an answer or a note to `asked`. */
export function outcome(asked: ReceivedFrame, kind: 'answer' | 'note', word: string): PeerMessage {
  return { mark: { kind, in_reply_to: asked.frame?.msg_id, outcome: word } };
}
