import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { readToken } from '../../src/registry/key.ts';
import { rowOf } from './claude-talk.ts';
import { commentary, final, type Rounds, script } from './model-script.ts';
import { deliveriesOf, peerLog } from './peer-log.ts';
import { type PeerResult, peerCommand, runPeer } from './peer-process.ts';
import { poll } from './poll.ts';
import type { RawClient } from './raw-client.ts';
import { type Bench, openBench, openRawClient, openSender, openSol, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';
import { Tmux } from './tmux.ts';

let world: World;
let bench: Bench;
let other: RawClient;
let sol: Sol;

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  other = await openRawClient(bench);
  sol = await openSol(bench);
  await other.call('thread/resume', { threadId: sol.threadId, excludeTurns: true });
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

function ask(text: string, ...args: string[]): Promise<PeerResult> {
  return runPeer(['ask', sol.name, text, ...args], { env: world.env });
}

/** A brief whose answer waits for `bench.model.release(key)`. */
function held(key: string, ...rounds: Rounds): string {
  const [first = [], ...others] = rounds;
  return `${key} ${script([[{ hold: key }, ...first], ...others])}`;
}

/** Every row, key and socket of this world. */
function published(): string[] {
  return [join(world.claudeDir, 'sessions'), join(world.runtimeDir, 'cc-socks')].flatMap((folder) =>
    readdirSync(folder),
  );
}

describe('the text', () => {
  /** The scripted model echoes what it is given. */
  const echoOf = (text: string) =>
    new RegExp(
      '^echo: Message from the command line "cli-\\d+" via the peer bridge \\(id [0-9a-f]{8}\\)\\.\n' +
        `Reply in plain text; your whole reply is sent back to them\\.\n\n${text}\n$`,
    );

  test('is the argument', async () => {
    const { code, stdout, stderr } = await ask('which test is flaky?');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(echoOf('which test is flaky\\?'));
  });

  test.each([[[]], [['-']]])('is stdin with %j for an argument', async (argument) => {
    const input = 'two lines\nof a diff\n';
    const { code, stdout, stderr } = await runPeer(['ask', sol.name, ...argument], { env: world.env, input });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(echoOf('two lines\nof a diff'));
  });

  test('is both where something is piped to a command with an argument', async () => {
    const command = `printf 'the diff\\n' | "$@"`;
    const argv = [...peerCommand, 'ask', sol.name, 'review this'];
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', command, 'sh', ...argv], {
      env: world.env,
    });
    expect(stderr).toBe('');
    expect(stdout).toMatch(echoOf('review this\n\nthe diff'));
  });
});

test('two asks at once each print their own answer', async () => {
  const asking = ['one', 'two'].map((word) => ask(`${word} ${script([[final(`answer ${word}`)]])}`));
  const printed = (stdout: string) => ({ code: 0, stdout, stderr: '' });
  expect(await Promise.all(asking)).toEqual([printed('answer one\n'), printed('answer two\n')]);
});

test('--priority now steers the running turn; the ask before it is answered too, and told so on stderr', async () => {
  const first = ask(held('slow', [final('never said')]));
  await bench.model.held('slow');
  const urgent = await ask(`urgent ${script([[final('for both')]])}`, '--priority', 'now');
  expect(urgent).toEqual({ code: 0, stdout: 'for both\n', stderr: '' });
  expect(await first).toEqual({
    code: 0,
    stdout: 'for both\n',
    stderr: 'peer: this answer was given together with a later message\n',
  });
  const [turn] = await other.turns(sol.threadId);
  expect(turn.items.filter(({ type }: { type: string }) => type === 'userMessage')).toHaveLength(2);
  bench.model.release('slow');
});

test('the death of the wrapper ends the wait with 8 within two seconds', async () => {
  const dying = await openSol(bench);
  const before = published();
  const asking = runPeer(['ask', dying.name, held('death', [final('never said')])], { env: world.env });
  await bench.model.held('death');
  const atMs = Date.now();
  await dying.process.stop('SIGKILL');
  const ended = await asking;
  expect(Date.now() - atMs).toBeLessThan(2_500);
  expect(ended).toEqual({
    code: 8,
    stdout: '',
    stderr: `peer: ${dying.name} ended while its answer was awaited. Whether it acted on the message is not known.\n`,
  });
  expect(published()).toEqual(before);
  bench.model.release('death');
});

test('Ctrl-C ends it with 130 and leaves neither row nor key nor socket; the brief goes on', async () => {
  const tmux = world.own(new Tmux(world));
  const before = published();
  const pane = await tmux.open({
    command: [...peerCommand, 'ask', sol.name, held('ctrl-c', [final('too late')])],
  });
  await bench.model.held('ctrl-c');
  expect(published()).toHaveLength(before.length + 3);
  await pane.keys('C-c');
  expect(await pane.exitStatus()).toBe(130);
  const said = /peer: stopped waiting\. The message \(id (\w{8})\) is not taken back\./.exec(
    await pane.capture(),
  );
  expect(published()).toEqual(before);
  bench.model.release('ctrl-c');
  const deliveries = () => deliveriesOf(world, sol.name, said?.[1] ?? 'nothing was said');
  await poll(() => deliveries().length > 0, 5_000, 'the brief was taken back');
  expect(deliveries()).toEqual(['not-sent']);
});

describe('a note goes to stderr and ends ask with the code of its outcome', () => {
  /** Ends the running turn as Esc in the TUI does. */
  async function interrupt(): Promise<void> {
    const [turn] = await other.turns(sol.threadId);
    await other.call('turn/interrupt', { threadId: sol.threadId, turnId: turn.id });
  }

  function expectNote(told: PeerResult, code: number, stderr: RegExp): void {
    expect(told).toMatchObject({ code, stdout: '' });
    expect(told.stderr).toMatch(stderr);
  }

  const usageLimit = {
    status: 429,
    body: { error: { type: 'usage_limit_reached', message: 'The usage limit has been reached' } },
  };
  test.each<[string, Rounds, RegExp]>([
    ['a failed turn', [[{ status: 500 }]], /: failed\] .* turn failed\. Codex says: .*\w/],
    ['a used-up plan', [[usageLimit]], /: usage-limit\] .*Codex says: .*usage limit/],
    ['no final text', [[commentary('hm')]], /: no-final\] [\s\S]*Partial, .*:\nhm\nno answer\n$/],
  ])('6 for %s', async (_, rounds, stderr) => {
    expectNote(await ask(`go ${script(rounds)}`), 6, stderr);
  });

  test('6 for an interrupted turn, with what was written so far', async () => {
    const asking = ask(`go ${script([[commentary('half'), { hold: 'esc' }]])}`);
    await bench.model.held('esc');
    await interrupt();
    expectNote(await asking, 6, /: interrupted\] [\s\S]*Partial, .*:\nhalf\nno answer\n$/);
    bench.model.release('esc');
  });

  test('6 for a steer that Esc took away behind a tool: safe to send again', async () => {
    const tool = { call: 'exec_command', args: { cmd: 'sleep 20', yield_time_ms: 30_000 } };
    const from = other.mark;
    const first = ask(`tool ${script([[tool]])}`);
    await other.wait(({ params }) => params.item?.type === 'commandExecution', { from });
    const before = logged('start');
    const steer = ask('lost', '--priority', 'now');
    await poll(() => logged('start') > before, 5_000, 'the steer was not given to Codex');
    await sleep(300);
    await interrupt();
    expectNote(await first, 6, /: interrupted\]/);
    expectNote(await steer, 6, /: not-taken\] .*\nnot taken: safe to send again\n$/);
  });

  test('6 for a brief that is taken back out of the thread while its turn runs', async () => {
    await ask('a turn before it');
    const asking = ask(held('revert', [final('never said')]));
    await bench.model.held('revert');
    const [turn] = await other.turns(sol.threadId);
    await other.call('thread/revert', { threadId: sol.threadId, beforeTurnId: turn.id });
    // Codex 0.171.0 interrupts the turn first; which of the two is read depends on the moment.
    expectNote(await asking, 6, /: (interrupted|reverted)\]/);
    bench.model.release('revert');
  });

  test('6 when the peer is closed, be it at work on the brief or not yet', async () => {
    const closing = await openSol(bench);
    const askIt = (text: string) => runPeer(['ask', closing.name, text], { env: world.env });
    const working = askIt(held('close', [final('never said')]));
    await bench.model.held('close');
    const waiting = askIt('next');
    await poll(() => logged('received', closing) === 2, 5_000, 'the second brief did not come');
    await closing.process.stop();
    expectNote(await working, 6, /: closed\] .* was closed while it worked on your message/);
    expectNote(await waiting, 6, /: closed\] .*\nnot taken: safe to send again\n$/);
    bench.model.release('close');
  });

  test('4 when the queue is full', async () => {
    const full = await openSol(bench);
    const first = runPeer(['ask', full.name, held('full', [final('never said')])], { env: world.env });
    await bench.model.held('full');
    const filler = await openSender(bench, 'filler');
    const { messagingSocketPath } = rowOf(world, full.name);
    const token = readToken(join(world.claudeDir, 'sessions'), messagingSocketPath ?? '');
    const frame = { msgV: 1, type: 'user', message: { role: 'user', content: 'one of many' } };
    const lines = [{ type: 'auth', token }, ...Array.from({ length: LIMITS.queueMessages }, () => frame)];
    const bytes = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    await filler.sendBytes({ to: full.name, bytes });
    const told = await runPeer(['ask', full.name, 'one more'], { env: world.env });
    expectNote(told, 4, /: queue-full\] .* takes no more messages now .*\nrefused\n$/);
    await full.process.stop();
    await first;
    bench.model.release('full');
  });

  test('7 when the connection to Codex broke while the brief was given: nobody can say', async () => {
    await ask('a turn before it, so that the thread outlives its server');
    const before = logged('start');
    bench.server.signal('SIGSTOP');
    const asking = ask('where am I?');
    await poll(() => logged('start') > before, 5_000, 'the brief was not given to Codex');
    await bench.server.kill();
    await bench.server.start();
    expectNote(await asking, 7, /: unknown\] .*\nunknown: sending it again may double it\n$/);
  });
});

function logged(event: string, { name } = sol): number {
  return peerLog(world, name).filter((line) => line.event === event).length;
}
