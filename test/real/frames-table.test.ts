import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { readToken } from '../../src/registry/key.ts';
import { ClaudeModel } from './claude-model.ts';
import { ClaudePane } from './claude-pane.ts';
import { ClaudeTalk, rowOf } from './claude-talk.ts';
import { authed, type Draft, lineOf, sent } from './frame-drafts.ts';
import { Attempt, claudeReceiver, peerReceiver, type Receiver } from './frame-receivers.ts';
import { alike, unlike, VARIATIONS, type Variation } from './frame-variations.ts';
import { poll } from './poll.ts';
import type { ScriptPeer } from './script-peer.ts';
import { type Bench, openBench, openSender, openSol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';
import { Tmux } from './tmux.ts';

let world: World;
let bench: Bench;
let talk: ClaudeTalk;
let receivers: Receivers;
let other: ScriptPeer;
/** Claude Code takes thirty at once from one sender. */
const senders: ScriptPeer[] = [];
const attempts: Attempts[] = [];

interface Receivers {
  readonly claude: Receiver;
  readonly peer: Receiver;
}

interface Attempts {
  readonly claude: Attempt;
  readonly peer: Attempt;
}

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  talk = new ClaudeTalk(world, world.own(await ClaudeModel.start()));
  receivers = await openReceivers('alpha', 'Sol');
  other = await openSender(bench, 'other');
  for (let index = 0; index < 5; index++) senders.push(await openSender(bench, `sender ${index}`));
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  if (process.env.PEER_FRAMES_TABLE) writeFileSync(process.env.PEER_FRAMES_TABLE, table());
});
beforeEach(() => printWhenFailed(world));

async function openReceivers(claudeName: string, peerName: string): Promise<Receivers> {
  const sol = await openSol(bench, [], peerName);
  const session = await talk.start(claudeName);
  const { messagingSocketPath = '' } = rowOf(world, peerName);
  return {
    claude: claudeReceiver(talk, session, tokenOf(session.socketPath)),
    peer: peerReceiver(bench, sol, messagingSocketPath, tokenOf(messagingSocketPath)),
  };
}

function tokenOf(socketPath: string): string {
  return readToken(join(world.claudeDir, 'sessions'), socketPath) ?? '';
}

/** Writes the variation to both and waits until what is expected is there. */
async function attempt(variation: Variation, to = receivers): Promise<Attempts> {
  const sender = senders[attempts.length % senders.length]!;
  const both = {
    claude: new Attempt(variation, sender, other, to.claude),
    peer: new Attempt(variation, sender, other, to.peer),
  };
  return made(both);
}

async function made(both: Attempts): Promise<Attempts> {
  attempts.push(both);
  await Promise.all([both.claude.write(), both.peer.write()]);
  const { claude, peer } = both.claude.variation;
  const isAsExpected = () => both.claude.outcome === claude && both.peer.outcome === peer;
  await poll(isAsExpected, 10_000, '').catch(() => {});
  return both;
}

function hopChainOf(content: string): string {
  return /hop-chain="([^"]*)"/.exec(content)?.[1] ?? '';
}

/** The sender's own token stands last in a chain. */
function lastOf(chain: string): string {
  return chain.split(',').at(-1) ?? '';
}

function expectOutcome(both: Attempts): void {
  const { frame, claude, peer } = both.claude.variation;
  expect({ frame, claude: both.claude.outcome, peer: both.peer.outcome }).toEqual({ frame, claude, peer });
}

describe.each(VARIATIONS)('$frame', (variation) => {
  test(`real Claude: ${variation.claude} · our peer: ${variation.peer}`, async () => {
    const both = await attempt(variation);
    expectOutcome(both);
    for (const { answered, tookMs } of [...both.claude.ends, ...both.peer.ends]) {
      expect(answered).toBe('');
      expect(tookMs).toBeLessThan(LIMITS.recordMs);
    }
  });
});

test('and it stays like that: what was not shown does not come later', async () => {
  expectOutcome(await attempt(alike('one good message more', 'shown', (d) => [sent(d)])));
  for (const both of attempts) expectOutcome(both);
});

test('a hop chain with its own token ten times is dropped by either', async () => {
  const [sender, { claude, peer }] = [senders[0]!, receivers];
  const ask = { text: '@@tool SendMessage {"to":"other","message":"chained"} @@say sent', hopChain: [] };
  await sender.send({ socket: claude.socketPath, ...ask });
  const chained = await other.waitForMessage('chained');
  const { msgId } = await sender.send({ socket: peer.socketPath, text: 'a word', hopChain: [] });
  const answer = await sender.waitForFrame(({ frame }) => frame?.peerwire?.in_reply_to === msgId);
  // Claude Code 2.1.332 finds itself by the token in `local_chain`, not by the one in its envelope's hop chain.
  const claudes = lastOf(String(chained.frame?.local_chain));
  const ours = lastOf(hopChainOf(answer.content));

  const hops = (times: number, token: string, outcome: string) => {
    const chain = Array(times).fill(token).join(',');
    return alike(`own token ${times} times`, outcome, (d) => [sent(d, {}, { 'hop-chain': chain })]);
  };
  for (const [times, outcome] of [
    [LIMITS.hopOwnToken - 1, 'shown'],
    [LIMITS.hopOwnToken, 'not shown, dropped: hop-loop'],
  ] as const) {
    const both = {
      claude: new Attempt(hops(times, claudes, outcome), sender, other, claude),
      peer: new Attempt(hops(times, ours, outcome), sender, other, peer),
    };
    await made(both);
    expectOutcome(both);
  }
});

test('a rename frame renames a real session in a terminal; ours has the name it was opened with', async () => {
  const tmux = world.own(new Tmux(world));
  const options = { env: world.env, modelUrl: talk.model.url, name: 'gamma', cwd: world.work };
  await using gamma = await ClaudePane.start(options, (command) => tmux.open(command));
  const rename = { auth: 'none', fields: { action: 'rename', name: 'delta' } } as const;
  await senders[0]!.control({ to: 'gamma', ...rename });
  await senders[0]!.control({ to: 'Sol', ...rename });
  await poll(
    () => gamma.row?.name === 'delta',
    5_000,
    () => `its name is ${gamma.row?.name}`,
  );
  expect(rowOf(world, 'Sol').messagingSocketPath).toBe(receivers.peer.socketPath);
});

describe('a megabyte', () => {
  let big: Receivers;
  beforeAll(async () => {
    big = await openReceivers('big alpha', 'Big Sol');
  });

  const line = (chars: number) => (draft: Draft) => [authed(draft, lineOf(draft, chars))];
  const noWord = 'Claude says nothing, and its sender may see a success; our receipt says why';

  test.each([
    alike('a line of 1,048,575 characters and a newline', 'shown', line(LIMITS.frameChars - 1)),
    unlike(
      'a line of 1,048,576 characters and a newline',
      'not shown',
      'not shown, dropped: too-large',
      noWord,
      line(LIMITS.frameChars),
    ),
    unlike(
      'a line of 1,500,000 characters',
      'not shown, cut off',
      'not shown, cut off, dropped: too-large',
      noWord,
      line(1_500_000),
    ),
  ])('$frame · real Claude: $claude · our peer: $peer', async (variation) => {
    const both = await attempt(variation, big);
    expectOutcome(both);
    for (const { answered } of [...both.claude.ends, ...both.peer.ends]) expect(answered).toBe('');
  });
});

/** The table as it stands in notes/claude-code.md, with the measured times. */
function table(): string {
  const rows = attempts.map(({ claude, peer }) => {
    const { frame, why } = claude.variation;
    return `| ${frame} | ${claude.outcome} | ${peer.outcome} | ${endOf(claude)} / ${endOf(peer)} | ${why} |`;
  });
  const head = [
    '| frame | real Claude | our peer | ended after, ms | why ours differs |',
    '|---|---|---|---|---|',
  ];
  return `${[...head, ...rows].join('\n')}\n`;
}

function endOf({ ends }: Attempt): string {
  return String(Math.ceil(Math.max(...ends.map(({ tookMs }) => tookMs))));
}
