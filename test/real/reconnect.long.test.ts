import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CodexDaemon } from './codex-daemon.ts';
import { fillCodexHome } from './codex-home.ts';
import { CodexModel } from './codex-model.ts';
import { DaemonProxy } from './daemon-proxy.ts';
import { commentary, final, script } from './model-script.ts';
import { turnRights } from './peer-facts.ts';
import { type Loose, RawClient } from './raw-client.ts';
import type { ScriptPeer } from './script-peer.ts';
import { openBench, openSender, openSol, repliesTo, replyTo, type Sol, type Told } from './sol.ts';
import { openWorld, type World } from './temp.ts';

/** A message that was sent, and what is known of it. */
interface Sent {
  readonly number: number;
  readonly sender: ScriptPeer;
  readonly sol: Sol;
  readonly id: string;
}

const PRIORITIES = ['next', 'next', 'next', 'now', 'later'] as const;

/** Sends messages of every priority at random moments until `isOver`; each is answered `R<number>` in its time. */
async function sendMany(world: World, sols: readonly Sol[], pace: Pace, isOver: (sent: number) => boolean) {
  // A sender is answered thirty times in a row, then every two seconds.
  const names = Array.from({ length: 8 }, (_, index) => `sender ${index}`);
  const senders = await Promise.all(names.map((name) => openSender({ world }, name)));
  const sent: Sent[] = [];
  for (let number = 0; !isOver(number); number++) {
    const sender = senders[number % senders.length]!;
    const sol = sols[number % sols.length]!;
    const talk = [
      { delayMs: atMost(pace.thinksMs) },
      commentary(`c${number}`),
      { delayMs: atMost(pace.thinksMs) },
    ];
    const text = `m${number} ${script([[...talk, final(`R${number}`)]])}`;
    const { msgId } = await sender.send({ to: sol.name, text, priority: PRIORITIES[number % 5]! });
    sent.push({ number, sender, sol, id: msgId });
    await sleep(atMost(pace.pauseMs));
  }
  return sent;
}

interface Pace {
  readonly thinksMs: number;
  readonly pauseMs: number;
}

const atMost = (ms: number) => Math.floor(Math.random() * ms);

/** Every message has one outcome, and it is what the thread says about it. */
async function expectToFit(sent: readonly Sent[], client: RawClient): Promise<void> {
  const told = new Map<Sent, Told>();
  for (const message of sent) told.set(message, await replyTo(message.sender, message.id, 90_000));
  await sleep(1_000);
  for (const sol of new Set(sent.map((message) => message.sol))) {
    const turns = await allTurns(client, sol.threadId);
    for (const message of sent.filter((one) => one.sol === sol)) {
      expect([message.number, repliesTo(message.sender, message.id)]).toEqual([message.number, 1]);
      expect([message.number, misfit(message.number, told.get(message)!, turns)]).toEqual([
        message.number,
        null,
      ]);
    }
  }
}

/** What is wrong with an outcome, or null. */
function misfit(number: number, { outcome, body, label }: Told, turns: readonly Loose[]): string | null {
  const own = turns.filter((turn) => turn.items.some((item: Loose) => isMessage(item, number)));
  if (outcome !== 'answered' && outcome !== 'no-answer')
    return own.length === 0 ? null : `${outcome}, but taken`;
  if (own.length !== 1) return `${outcome}, but taken ${own.length} times`;
  const run = turns.filter((turn) => turn.rootTurnId === own[0].rootTurnId);
  if (outcome === 'no-answer')
    return run.at(-1).status === 'completed' ? 'not answered, but its turn is' : null;
  const hasSaid = run.some((turn) => turn.items.some((item: Loose) => item.text === body));
  if (!hasSaid) return `answered with what its turn did not say: ${body}`;
  const isOwn = body === `R${number}` || body === 'recovered' || label !== '';
  return isOwn ? null : `answered with the answer of another: ${body}`;
}

function isMessage({ type, content }: Loose, number: number): boolean {
  return type === 'userMessage' && content[0].text.includes(`\n\nm${number} `);
}

async function allTurns(client: RawClient, threadId: string): Promise<Loose[]> {
  const turns: Loose[] = [];
  for (let cursor = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const params = { threadId, sortDirection: 'asc', itemsView: 'full', cursor };
    const page: Loose = await client.call('thread/turns/list', params);
    turns.push(...page.data);
    cursor = page.nextCursor ?? null;
  }
  return turns;
}

test('200 messages over a connection that is cut again and again', async () => {
  await using world = openWorld();
  const bench = await openBench(world);
  const proxy = await DaemonProxy.start(world);
  const sols = [await openSol(bench), await openSol(bench)];
  const cutting = new AbortController();
  const cuts = (async () => {
    while (!cutting.signal.aborted) {
      await sleep(20 + atMost(250));
      proxy.cut();
    }
  })();
  const sent = await sendMany(world, sols, { thinksMs: 120, pauseMs: 150 }, (count) => count === 200);
  await sleep(3_000);
  cutting.abort();
  await cuts;
  await using client = await RawClient.connect(proxy.serverPath);
  await expectToFit(sent, client);
});

test('messages while the daemon is restarted, stopped and killed, a dozen times', async () => {
  await using world = openWorld();
  const model = world.own(await CodexModel.start());
  const settings = 'approval_policy = "on-request"\nsandbox_mode = "workspace-write"';
  await fillCodexHome(world, model, { packages: true, settings });
  const daemon = world.own(await CodexDaemon.start(world));
  model.on(/daemon_recovery/, () => [[{ delayMs: atMost(600) }, final('recovered')]]);
  const sols = [await openSol({ world }), await openSol({ world }), await openSol({ world })];
  let isOver = false;
  const restarts = (async () => {
    for (const word of Array(3).fill(['restart', 'stop', 'restart', 'kill']).flat()) {
      await sleep(500 + atMost(2_500));
      if (word === 'kill') await daemon.kill();
      else await daemon.command(word);
      // Sometimes a person starts it again, sometimes only a peer does.
      await sleep(atMost(4_000));
      if (Math.random() < 0.5) await daemon.command('start');
    }
    await daemon.command('start');
    isOver = true;
  })();
  const sent = await sendMany(world, sols, { thinksMs: 2_500, pauseMs: 1_500 }, () => isOver);
  await restarts;
  await using client = await daemon.client();
  await expectToFit(sent, client);
  const rights = sols.flatMap(({ threadId }) => turnRights(world, threadId));
  expect(new Set(rights.map(({ sandbox, approval }) => `${sandbox}, ${approval}`))).toEqual(
    new Set(['read-only, never']),
  );
});
