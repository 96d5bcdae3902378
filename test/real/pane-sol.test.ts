import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { processState } from '../../src/os/proc.ts';
import { rowsOf } from './claude-row.ts';
import { commentary, final, script } from './model-script.ts';
import type { Pane } from './pane.ts';
import type { ScriptPeer } from './script-peer.ts';
import { type Bench, openBench, openSender, repliesTo, replyTo } from './sol.ts';
import { installPeer, literally, openShell, type PaneSol, paneSol, tuiOf, typeLine } from './sol-pane.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';
import { Tmux } from './tmux.ts';

let world: World;
let bench: Bench;
let a: ScriptPeer;
let b: ScriptPeer;
let pane: Pane;
let sol: PaneSol;

beforeAll(async () => {
  world = openWorld();
  installPeer(world);
  bench = await openBench(world);
  a = await openSender(bench, 'alpha');
  b = await openSender(bench, 'beta');
  pane = await openShell(world.own(new Tmux(world)));
  await pane.resize(120, 40);
  await pane.enter('peer open Sol', 50);
  sol = await paneSol(world, pane, 'Sol');
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

async function send(from: ScriptPeer, text: string): Promise<string> {
  return (await from.send({ to: sol.name, text })).msgId;
}

const answered = (body: string, label = '') => ({ kind: 'answer', outcome: 'answered', body, label });

/** Matches a screen that shows these one below the other. */
function inOrder(...parts: string[]): RegExp {
  return new RegExp(parts.map(literally).join('[\\s\\S]*'));
}

/** The peer serves the thread it was opened on, and each sender was told one thing. */
async function goesOn(...told: [ScriptPeer, string][]): Promise<void> {
  const id = await send(b, `and now ${script([[final('still here')]])}`);
  expect(await replyTo(b, id)).toEqual(answered('still here'));
  for (const [sender, msgId] of [...told, [b, id] as const]) expect(repliesTo(sender, msgId)).toBe(1);
  const row = rowsOf(world.env).find(({ name }) => name === sol.name);
  expect(row).toMatchObject({ pid: sol.pid, sessionId: sol.threadId });
}

test('a message, the commentary on it and the answer show in the pane as they come', async () => {
  const id = await send(a, `one ${script([[commentary('thinking'), { hold: 'live' }, final('A1')]])}`);
  const header = `› Message from Claude session "alpha" via the peer bridge (id ${id.slice(0, 8)}).`;
  const running = await pane.waitFor(inOrder(header, 'one @@', '• thinking', 'Working'));
  expect(running).not.toMatch(/^• A1$/m);
  bench.model.release('live');
  await pane.waitFor(inOrder(header, '• thinking', '• A1', 'Worked for'));
  expect(await replyTo(a, id)).toEqual(answered('A1'));
});

test('the TUI draws itself anew at the width of a resized window', async () => {
  const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
  await replyTo(a, await send(a, `many ${script([[final(words)]])}`));
  const widthOfAnswer = (screen: string) => /^• word0 .*$/m.exec(screen)?.[0].length ?? 0;
  const line = (last: number) => new RegExp(`^• word0 [^\\n]*word${last}\\n  word${last + 1} `, 'm');
  expect(widthOfAnswer(await pane.waitFor(line(17)))).toBeGreaterThan(100);
  await pane.resize(80, 24);
  expect(widthOfAnswer(await pane.waitFor(line(11)))).toBeLessThan(80);
  await pane.resize(120, 40);
  await pane.waitFor(line(17));
});

test("a line typed between two messages comes in order, and each sender gets its own message's answer", async () => {
  const first = await send(a, `first ${script([[final('A1')]])}`);
  expect(await replyTo(a, first)).toEqual(answered('A1'));
  await typeLine(pane, `typed ${script([[{ hold: 'typed' }, final('T1')]])}`);
  await bench.model.held('typed');
  const second = await send(b, `second ${script([[final('B1')]])}`);
  bench.model.release('typed');
  expect(await replyTo(b, second)).toEqual(answered('B1'));
  await pane.waitFor(inOrder('first @@', '• A1', '› typed @@', '• T1', 'second @@', '• B1'));
  expect([repliesTo(a, first), repliesTo(b, second)]).toEqual([1, 1]);
});

test('a line typed during the turn of a sender steers it, and the answer says so', async () => {
  const first = await send(
    a,
    `slow ${script([[commentary('looking'), { hold: 'steered' }, final('never')]])}`,
  );
  await bench.model.held('steered');
  const queued = await send(b, `queued ${script([[final('B1')]])}`);
  await typeLine(pane, `also this ${script([[final('for both')]])}`);
  const label = "given together with a line typed at Sol's terminal";
  expect(await replyTo(a, first)).toEqual(answered('for both', label));
  expect(await replyTo(b, queued)).toEqual(answered('B1'));
  await pane.waitFor(inOrder('slow @@', '› also this', '• for both', 'queued @@', '• B1'));
  await goesOn([a, first], [b, queued]);
});

test('Esc during the turn of a sender is one note, and whoever waits behind it is answered', async () => {
  const first = await send(
    a,
    `slow ${script([[commentary('half of it'), { hold: 'esc' }, final('never')]])}`,
  );
  await bench.model.held('esc');
  const queued = await send(b, `queued ${script([[final('B1')]])}`);
  await pane.waitFor(/^• half of it$/m);
  await pane.keys('Escape');
  const told = await replyTo(a, first);
  expect(told).toMatchObject({ kind: 'note', outcome: 'no-answer' });
  expect(told.body).toMatch(/: interrupted\][\s\S]*half of it/);
  expect(await replyTo(b, queued)).toEqual(answered('B1'));
  await goesOn([a, first], [b, queued]);
});

test('Ctrl-C is for Codex: it clears a draft, and asks what is to become of a running task', async () => {
  await pane.type('a draft');
  await pane.waitFor(/^› a draft$/m);
  await pane.keys('C-c');
  await pane.waitFor(/^› Ask Codex/m);
  const id = await send(a, `slow ${script([[{ hold: 'ctrl-c' }, final('A1')]])}`);
  await bench.model.held('ctrl-c');
  await pane.waitFor(/Working/);
  await pane.keys('C-c');
  await pane.waitFor(/Task is still running/);
  await pane.keys('Escape');
  await pane.waitFor(/Working/);
  bench.model.release('ctrl-c');
  expect(await replyTo(a, id)).toEqual(answered('A1'));
});

test('Ctrl-Z stops neither the peer nor its TUI, under a shell with job control', async () => {
  const states = () => [processState(sol.pid), processState(tuiOf(world, sol)!)].join('');
  await pane.keys('C-z');
  // Codex 0.171.0 gives the screen to the shell, is not stopped, and takes it back by itself.
  await pane.waitFor(/peer open Sol\n/);
  expect(states()).toMatch(/^[SRD]{2}$/);
  await goesOn();
  await pane.waitFor(/^› Ask Codex/m);
  expect(states()).toMatch(/^[SRD]{2}$/);
});

test('a message taken back with Esc-Esc is not answered a second time', async () => {
  const id = await send(a, `a regret ${script([[final('A1')]])}`);
  expect(await replyTo(a, id)).toEqual(answered('A1'));
  await pane.waitFor(inOrder('a regret', '• A1', 'Worked for'));
  await pane.keys('Escape');
  await pane.waitFor(/esc again to edit/);
  await pane.keys('Escape');
  await pane.waitFor(/Browsing transcript/);
  await pane.keys('Enter');
  // The message is in the composer: nothing of the thread stands between it and the status line.
  await pane.waitFor(/^› Message from[^›]*a regret[^›]*scripted default/m);
  await goesOn([a, id]);
  expect(JSON.stringify(bench.model.requests.at(-1)?.body)).not.toContain('a regret');
  await pane.keys('C-c');
  await pane.waitFor(/^› Ask Codex/m);
});

test('a message that comes during /compact or /review is answered after it', async () => {
  bench.model.on(/summar/i, [[{ hold: 'compact' }, final('a summary')]]);
  bench.model.on(/^look at it$/, [[{ hold: 'review' }, final('it is fine')]]);
  for (const [line, key] of [
    ['/compact', 'compact'],
    ['/review look at it', 'review'],
  ] as const) {
    await typeLine(pane, line);
    await bench.model.held(key);
    const next = await send(a, `next ${script([[final('A1')]])}`);
    const now = (await b.send({ to: sol.name, text: `now ${script([[final('B1')]])}`, priority: 'now' }))
      .msgId;
    await sleep(300);
    expect([repliesTo(a, next), repliesTo(b, now)]).toEqual([0, 0]);
    bench.model.release(key);
    expect(await replyTo(a, next)).toEqual(answered('A1'));
    expect(await replyTo(b, now)).toEqual(answered('B1'));
    await goesOn([a, next], [b, now]);
  }
});

test('of a brief of 200 kB the model gets the beginning, the size and a file, and the pane takes keys', async () => {
  const brief = `begins here ${'x'.repeat(200_000)} ends here`;
  bench.model.on(/^Message[\s\S]*begins here/, [[final('read')]]);
  const id = await send(a, brief);
  await pane.type('q');
  await pane.waitFor(/^› q$/m, 3_000);
  expect(await replyTo(a, id)).toEqual(answered('read'));
  await pane.keys('C-c');
  const { text } = bench.model.requests.find((request) => request.text.includes('begins here'))!;
  const [, excerpt, size, file] =
    /\n\n(begins here x+)\n\n\[The text goes on: (\d+) bytes in all, in the file (.*)\]$/.exec(text)!;
  expect(excerpt).toBe(brief.slice(0, 2_000));
  expect(Number(size)).toBe(brief.length);
  expect(readFileSync(file!, 'utf8')).toBe(brief);
  const texts = join(world.stateDir, 'peer', 'texts');
  expect(readdirSync(texts).map((name) => join(texts, name))).toEqual([file]);
  expect(statSync(file!).mode & 0o777).toBe(0o600);
});

/** Moves the pane to another thread during the turn of a sender; a turn that is typed there holds up nobody. */
async function movesBy(command: string, hasMoved: RegExp): Promise<void> {
  await typeLine(pane, command);
  // Codex 0.171.0 refuses to move during a turn, unless it began while this is asked.
  await pane.waitFor(/conversation run\?/);
  const key = `turn at ${command}`;
  const running = await send(a, `slow ${script([[{ hold: key }, final('A1')]])}`);
  await bench.model.held(key);
  await pane.keys('Enter');
  await pane.waitFor(hasMoved);
  bench.model.release(key);
  expect(await replyTo(a, running)).toEqual(answered('A1'));
  await typeLine(pane, `typed after ${command} ${script([[{ hold: command }, final('not for a peer')]])}`);
  await bench.model.held(command);
  await goesOn([a, running]);
  bench.model.release(command);
  await pane.waitFor(/^• not for a peer$/m);
}

test('a pane that moves to a new thread leaves the peer serving its own, and /resume brings it back', async () => {
  await movesBy('/new', /^› Ask Codex[\s\S]*work$/m);
  await typeLine(pane, '/resume');
  await pane.waitFor(/Resume a previous session/);
  await pane.type('Sol');
  await pane.waitFor(/Search: Sol\n[^›]*› .*● Sol$/m);
  await pane.keys('Enter');
  await paneSol(world, pane, 'Sol');
  await goesOn();
  await pane.waitFor(/^• still here$/m);
});

test('a pane that moves to a fork leaves the peer serving its own, and does not show it', async () => {
  await movesBy('/fork', /Fork created/);
  await goesOn();
  expect(await pane.capture()).not.toMatch(/not for a peer[\s\S]*still here/);
});
