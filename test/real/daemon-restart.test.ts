import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { CodexDaemon } from './codex-daemon.ts';
import { fillCodexHome } from './codex-home.ts';
import { CodexModel } from './codex-model.ts';
import { commentary, final, script } from './model-script.ts';
import { rowOf, turnRights } from './peer-facts.ts';
import { poll } from './poll.ts';
import { RawClient } from './raw-client.ts';
import type { ScriptPeer } from './script-peer.ts';
import { openSender, openSol, repliesTo, replyTo, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

let world: World;
let model: CodexModel;
let daemon: CodexDaemon;
let a: ScriptPeer;
let b: ScriptPeer;

beforeAll(async () => {
  world = openWorld();
  model = world.own(await CodexModel.start());
  // What a thread without a turn comes back with: more than the peers here ask for.
  const settings = 'approval_policy = "on-request"\nsandbox_mode = "workspace-write"';
  await fillCodexHome(world, model, { packages: true, settings });
  daemon = world.own(await CodexDaemon.start(world, { graceSeconds: 1 }));
  a = await openSender({ world }, 'alpha');
  b = await openSender({ world }, 'beta');
  const lastAsked = (input: unknown) =>
    JSON.stringify(input)
      .match(/running-\d+/g)
      ?.at(-1);
  model.on(/daemon_recovery/, ({ input }) => [[final(`recovered ${lastAsked(input)}`)]]);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

const peers: Sol[] = [];
afterEach(async () => {
  await Promise.all(peers.splice(0).map((peer) => peer.process.stop()));
});

async function open(): Promise<Sol> {
  const peer = await openSol({ world });
  peers.push(peer);
  return peer;
}

type Priority = 'now' | 'next' | 'later';

async function send(from: ScriptPeer, to: Sol, text: string, priority: Priority = 'next'): Promise<string> {
  return (await from.send({ to: to.name, text, priority })).msgId;
}

/** Resolves when the daemon refuses work because it is about to end. */
async function drains(client: RawClient, threadId: string): Promise<void> {
  const refusal = async () => {
    const error = await client.call('thread/settings/update', { threadId }).catch((error: Error) => error);
    return error instanceof Error && error.message.includes('draining');
  };
  while (!(await refusal())) await sleep(20);
}

const answered = (body: string) => ({ kind: 'answer', outcome: 'answered', body, label: '' });
const row = (peer: Sol) => rowOf(world, peer.name)!;

test('a restart in the middle of a turn: the recovery turn answers its sender, the others get their own answers', async () => {
  const open3 = [await open(), await open(), await open()];
  for (const round of ['1', '2']) {
    const tell = async (peer: Sol, index: number) => {
      const word = `${round}${index}`;
      const running = `running-${word} ${script([[commentary('half'), { hold: word }, final('never')]])}`;
      const first = await send(a, peer, running);
      await model.held(word);
      return { peer, word, first, queued: await send(b, peer, `queued ${script([[final(`Q${word}`)]])}`) };
    };
    const told = await Promise.all(open3.map(tell));
    const client = await daemon.client();
    const restarted = daemon.command('restart');
    await drains(client, open3[0]!.threadId);
    const urgent = await Promise.all(
      told.map(({ peer, word }) => send(a, peer, `urgent ${script([[final(`N${word}`)]])}`, 'now')),
    );
    await poll(() => row(open3[0]!).waitingFor === 'daemon restart', 5_000, 'the row says no restart');
    expect(row(open3[0]!).status).toBe('busy');
    expect((await restarted).status).toBe('restarted');

    for (const [index, { word, first, queued }] of told.entries()) {
      expect(await replyTo(a, first)).toEqual(answered(`recovered running-${word}`));
      expect(await replyTo(a, urgent[index]!)).toEqual(answered(`N${word}`));
      expect(await replyTo(b, queued)).toEqual(answered(`Q${word}`));
    }
    await sleep(200);
    for (const [index, { first, queued }] of told.entries()) {
      expect([repliesTo(a, first), repliesTo(a, urgent[index]!), repliesTo(b, queued)]).toEqual([1, 1, 1]);
    }
  }
});

test('a thread without a turn comes back with wider rights: nothing is dispatched before they are repaired', async () => {
  const alone = await open();
  const watched = await open();
  const watcher = await daemon.client();
  await watcher.call('thread/resume', { threadId: watched.threadId, excludeTurns: true });
  const restarted = daemon.command('restart');
  await watcher.closed;
  // Another subscriber is back first: what the peer asks for when it resumes the thread is ignored then.
  process.kill(watched.process.pid, 'SIGSTOP');
  await using back = await reconnected();
  const params = { threadId: watched.threadId, excludeTurns: true };
  const { sandbox, approvalPolicy } = await back.call('thread/resume', params);
  expect([sandbox.type, approvalPolicy]).toEqual(['workspaceWrite', 'on-request']);
  const ids = [alone, watched].map((peer) => send(a, peer, `go ${script([[final('A')]])}`, 'now'));
  process.kill(watched.process.pid, 'SIGCONT');
  await restarted;
  for (const id of ids) expect(await replyTo(a, await id)).toEqual(answered('A'));
  for (const { threadId } of [alone, watched]) {
    expect(turnRights(world, threadId)).toEqual([{ sandbox: 'read-only', approval: 'never' }]);
  }
});

test('a daemon that a person stopped stays down until a message waits, and then for five seconds', async () => {
  const sol = await open();
  expect((await daemon.command('stop')).status).toBe('stopped');
  await poll(() => row(sol).waitingFor === 'Codex daemon', 2_000, 'the row does not say that it is gone');
  expect(row(sol).status).toBe('busy');
  await sleep(6_000);
  expect(daemon.pid).toBeNull();
  const late = await send(a, sol, `late ${script([[final('L')]])}`);
  expect(await replyTo(a, late)).toEqual(answered('L'));

  await daemon.command('stop');
  const stoppedAt = performance.now();
  const early = await send(a, sol, `early ${script([[final('E')]])}`);
  const started = await poll(() => daemon.pid !== null && performance.now(), 10_000, 'no daemon came back');
  expect(started - stoppedAt).toBeGreaterThan(4_500);
  expect(await replyTo(a, early)).toEqual(answered('E'));
  await poll(() => row(sol).status === 'idle', 2_000, 'the row stays busy');
  expect(row(sol).waitingFor).toBeUndefined();
});

async function reconnected(): Promise<RawClient> {
  for (;;) {
    const client = await RawClient.connect(daemon.socketPath, 'watcher').catch(() => null);
    if (client !== null) return client;
    await sleep(5);
  }
}
