import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ClaudeOptions } from './claude-home.ts';
import { ClaudeModel } from './claude-model.ts';
import { rowsOf } from './claude-row.ts';
import { ClaudeSession } from './claude-session.ts';
import { answered, ClaudeTalk } from './claude-talk.ts';
import { final, script } from './model-script.ts';
import { deliveriesOf, peerLog } from './peer-log.ts';
import { peerCommand } from './peer-process.ts';
import { poll } from './poll.ts';
import { type Bench, openBench, openSol, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';
import { Tmux } from './tmux.ts';

let world: World;
let bench: Bench;
let talk: ClaudeTalk;
let sol: Sol;
let alpha: ClaudeSession;
/** Asks nobody before it acts. */
let boss: ClaudeSession;

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  talk = new ClaudeTalk(world, world.own(await ClaudeModel.start()));
  sol = await openSol(bench, [], 'Sol');
  alpha = await talk.start('alpha');
  boss = await startClaude('boss', BYPASS);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

/** `IS_SANDBOX` lets root do it. */
const BYPASS: Partial<ClaudeOptions> = {
  permissionMode: 'bypassPermissions',
  extraEnv: { IS_SANDBOX: '1' },
};

async function startClaude(name: string, options: Partial<ClaudeOptions>): Promise<ClaudeSession> {
  const { env, work: cwd } = world;
  return world.own(await ClaudeSession.start({ env, modelUrl: talk.model.url, name, cwd, ...options }));
}

/** The session briefs a peer, which answers at once; the id of the brief. */
function askFor(session: ClaudeSession, answer: string, peer = 'Sol'): Promise<string> {
  return talk.brief(session, peer, `answer this ${script([[final(answer)]])}`);
}

/** Waits until the log of a peer says that its answer to this brief has got so far. */
async function untilDelivery(msgId: string, delivery: string, peer = 'Sol'): Promise<void> {
  const said = () => deliveriesOf(world, peer, msgId);
  await poll(
    () => said().at(-1) === delivery,
    10_000,
    () => `${peer} says of its answer: ${said()}`,
  );
}

/** Whether the session's model was shown this answer; the brief that asks for it is something else. */
function wasShown(session: ClaudeSession, answer: string): boolean {
  const request = talk.model.requests.findLast(({ sessionId }) => sessionId === session.sessionId);
  const texts = request === undefined ? [] : talk.model.textsOf(request);
  return texts.some((text) => text.includes(`>\n${answer}\n`));
}

/** Waits for the answer, and for the end of the turn that it starts. */
async function untilShown(session: ClaudeSession, answer: string): Promise<void> {
  await poll(() => wasShown(session, answer), 10_000, `it was never shown: ${answer}`);
  await session.nextResult();
}

/** Sentences of Sol about a held answer, on its terminal. */
function saidOfHolding(): string[] {
  return sol.process.stderr.split('\n').filter((line) => line.includes('crossSessionInbound'));
}

describe('a session that bypasses permissions holds the answer of a peer that does not', () => {
  test('until its person approves: then its model is shown it, and the peer knows', async () => {
    const id = await askFor(boss, 'please approve');
    const holdId = await boss.waitForHeld('Sol');
    await untilDelivery(id, 'held');
    expect(wasShown(boss, 'please approve')).toBe(false);
    await boss.decideHeld(holdId, 'deliver');
    await untilDelivery(id, 'delivered');
    await untilShown(boss, 'please approve');
  });

  test('or denies: then it is never shown, and the peer knows', async () => {
    const seen = boss.events.length;
    const id = await askFor(boss, 'please deny');
    await boss.decideHeld(await boss.waitForHeld('Sol', seen), 'drop');
    await untilDelivery(id, 'denied');
    expect(wasShown(boss, 'please deny')).toBe(false);
  });

  test('and a person is told once, on the terminal and in the log, which setting changes that', () => {
    const [said, ...more] = saidOfHolding();
    expect(said).toBe(
      'An answer of Sol waits for the person at boss to approve it. To let answers through there: "crossSessionInbound": "accept" in ~/.claude/settings.json',
    );
    expect(more).toEqual([]);
    expect(peerLog(world, 'Sol').filter(({ event }) => event === 'held')).toMatchObject([{ advice: said }]);
  });
});

describe('the setting crossSessionInbound of a session decides what becomes of an answer', () => {
  const withSetting = (crossSessionInbound: string) => ({
    args: ['--settings', JSON.stringify({ crossSessionInbound })],
  });

  test('accept: shown, though the session bypasses permissions', async () => {
    const open = await startClaude('open', { ...BYPASS, ...withSetting('accept') });
    const id = await askFor(open, 'let me in');
    await untilShown(open, 'let me in');
    await untilDelivery(id, 'written');
    expect(deliveriesOf(world, 'Sol', id)).toEqual(['written']);
  });

  test('hold: held, though both ask before they act', async () => {
    const careful = await startClaude('careful', withSetting('hold'));
    const id = await askFor(careful, 'let me wait');
    await careful.waitForHeld('Sol');
    await untilDelivery(id, 'held');
    await careful.close();
    await untilDelivery(id, 'expired');
  });

  test('refuse: refused, and never shown', async () => {
    const closed = await startClaude('closed', withSetting('refuse'));
    const id = await askFor(closed, 'let me down');
    await untilDelivery(id, 'refused');
    expect(wasShown(closed, 'let me down')).toBe(false);
  });
});

test('a peer with full access that never asks says so: who bypasses takes its answer, who does not holds it', async () => {
  const tmux = world.own(new Tmux(world));
  const rights = ['--sandbox', 'danger-full-access', '--approval', 'never'];
  const pane = await tmux.open({
    command: [...peerCommand, 'open', 'Wild', '--headless', ...rights],
    cols: 120,
  });
  const isOpen = () => rowsOf(world.env).some((row) => row.name === 'Wild' && row.messagingSocketPath);
  await poll(isOpen, 15_000, 'Wild did not open').catch(async (error) => {
    throw new Error(`${error}\n${await pane.capture()}`);
  });
  const toBoss = await askFor(boss, 'wild words', 'Wild');
  await untilShown(boss, 'wild words');
  await untilDelivery(toBoss, 'written', 'Wild');
  expect(deliveriesOf(world, 'Wild', toBoss)).toEqual(['written']);
  const seen = alpha.events.length;
  const toAlpha = await askFor(alpha, 'more wild words', 'Wild');
  await alpha.decideHeld(await alpha.waitForHeld('Wild', seen), 'drop');
  await untilDelivery(toAlpha, 'denied', 'Wild');
  expect(wasShown(alpha, 'more wild words')).toBe(false);
});

test('two equal short answers one after the other are both shown', async () => {
  const brief = (key: string) => talk.brief(alpha, 'Sol', `${key} ${answered(key, 'done')}`);
  const ids = [await brief('one'), await brief('two')];
  for (const [index, key] of ['one', 'two'].entries()) {
    bench.model.release(key);
    await untilShown(alpha, `done\n\n(answer to ${ids[index]?.slice(0, 8)})`);
  }
});

test('a session that is cleared meanwhile gets the answer', async () => {
  const before = alpha.sessionId;
  await talk.brief(alpha, 'Sol', `slow ${answered('cleared', 'after the clear')}`);
  alpha.say('/clear');
  await poll(() => alpha.sessionId !== before, 10_000, 'the session id stays');
  bench.model.release('cleared');
  await poll(() => wasShown(alpha, 'after the clear'), 10_000, 'the answer was never shown');
});
