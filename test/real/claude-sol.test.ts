import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ClaudeModel } from './claude-model.ts';
import { rowsOf } from './claude-row.ts';
import type { ClaudeSession } from './claude-session.ts';
import { answered, ClaudeTalk, rowOf, statusesOf, untilStatus } from './claude-talk.ts';
import { final, script } from './model-script.ts';
import type { Pane } from './pane.ts';
import { deliveriesOf } from './peer-log.ts';
import { peerCommand } from './peer-process.ts';
import { poll } from './poll.ts';
import { CODEX_VERSION } from './programs.ts';
import type { ScriptPeer } from './script-peer.ts';
import { type Bench, openBench, openSender, openSol, replyTo, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';
import { Tmux } from './tmux.ts';

let world: World;
let bench: Bench;
let sol: Sol;
let talk: ClaudeTalk;
let alpha: ClaudeSession;
let beta: ClaudeSession;
let other: ScriptPeer;

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  sol = await openSol(bench, ['--effort', 'high'], 'Sol');
  talk = new ClaudeTalk(world, world.own(await ClaudeModel.start()));
  alpha = await talk.start('alpha');
  beta = await talk.start('beta');
  other = await openSender(bench, 'other');
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

/** How Sol's answer to this message stands before Claude's model. */
function fromSol(answer: string, msgId: string, label = '') {
  return {
    socketPath: rowOf(world, 'Sol').messagingSocketPath,
    name: 'Sol',
    mode: 'prompting',
    firstLine: answer,
    body: `${answer}\n\n(answer to ${msgId.slice(0, 8)}${label})`,
    verifiedPid: sol.process.pid,
  };
}

test('real Claude lists Sol, briefs it with its own SendMessage, and its next request holds the answer', async () => {
  alpha.say('@@tool ListAgents {} @@say listed');
  await alpha.nextResult();
  const list = talk.model.toolResults(alpha.sessionId).at(-1)?.text;
  expect(list).toMatch(/^ {2}Sol \[[0-9a-f]{6}\] {2}· {2}interactive {2}· {2}idle/m);

  const id = await talk.brief(alpha, 'Sol', `a brief for Sol ${answered('first', 'the answer of Sol')}`);
  const shown = talk.nextShown(alpha);
  bench.model.release('first');
  expect(await shown).toEqual(fromSol('the answer of Sol', id));
  const [asked] = bench.model.requests;
  expect(asked?.text).toMatch(
    /^Message from Claude session "alpha" via the peer bridge \(id [0-9a-f]{8}\)\.\nReply in plain text; your whole reply is sent back to them\.\n\na brief for Sol/,
  );
});

test('a brief that comes while Sol works for somebody else is answered after it, each with its own answer', async () => {
  const { msgId } = await other.send({ to: 'Sol', text: `busy ${answered('busy', 'for the other')}` });
  await bench.model.held('busy');
  expect(rowOf(world, 'Sol').status).toBe('busy');
  const id = await talk.brief(alpha, 'Sol', `queued ${script([[final('for alpha')]])}`);
  const shown = talk.nextShown(alpha);
  bench.model.release('busy');
  expect(await replyTo(other, msgId)).toMatchObject({ kind: 'answer', body: 'for the other', label: '' });
  expect(await shown).toEqual(fromSol('for alpha', id));
});

test('two Claude sessions at once get their own answers, equal ones too', async () => {
  const brief = (session: ClaudeSession, hold: string) =>
    talk.brief(session, 'Sol', `${session.name} ${answered(hold, 'same')}`);
  const ids = await Promise.all([brief(alpha, 'both'), brief(beta, 'both')]);
  const shown = [talk.nextShown(alpha), talk.nextShown(beta)];
  bench.model.release('both');
  expect(await Promise.all(shown)).toEqual(ids.map((id) => fromSol('same', id)));

  const id = await brief(alpha, 'again');
  const again = talk.nextShown(alpha);
  bench.model.release('again');
  expect(await again).toEqual(fromSol('same', id));
});

test('when the turn fails, the model of the sender is told why', async () => {
  const failing = script([[{ hold: 'failing' }, { status: 500 }]]);
  const id = await talk.brief(alpha, 'Sol', `this fails ${failing}`);
  const shown = talk.nextShown(alpha);
  bench.model.release('failing');
  const { name, firstLine, verifiedPid } = await shown;
  expect({ name, verifiedPid }).toEqual({ name: 'Sol', verifiedPid: sol.process.pid });
  expect(firstLine).toMatch(`[no answer to ${id.slice(0, 8)}: failed] Sol's turn failed. Codex says: `);
  expect(firstLine).toMatch(/Codex says: .*\w/);
});

test("ten questions in turns that Sol's own answers began are answered; the next one is dropped as a loop", async () => {
  const question = (round: number) => `question ${round} ${answered(`round ${round}`, `answer ${round}`)}`;
  for (let round = 1; round <= 10; round++) {
    const calls = [
      ['SendMessage', { to: 'other', message: `seen ${round}` }],
      ['SendMessage', { to: 'Sol', message: question(round + 1) }],
    ];
    talk.model.on(new RegExp(`>\nanswer ${round}\n`), `@@tools ${JSON.stringify(calls)} @@say asked`);
  }
  const gamma = await talk.start('gamma');
  await talk.brief(gamma, 'Sol', question(1));
  for (let round = 1; round <= 10; round++) {
    const shown = talk.nextShown(gamma);
    bench.model.release(`round ${round}`);
    expect((await shown).firstLine).toBe(`answer ${round}`);
  }
  await talk.model.waitForText('[Cross-session delivery notice]');

  const chainAt = async (round: number) => {
    const { content } = await other.waitForMessage(`\nseen ${round}\n`);
    return /hop-chain="([^"]*)"/.exec(content)?.[1]?.split(',') ?? [];
  };
  const [first, last] = [await chainAt(1), await chainAt(10)];
  expect(first).toHaveLength(2);
  // Claude Code 2.1.332 adds another token of its own each time.
  expect(last).toHaveLength(20);
  expect(last.filter((token) => token === first[0])).toHaveLength(10);
});

test('the row says what Sol is, and `claude agents` shows its status: idle, busy, idle', async () => {
  expect(rowOf(world, 'Sol')).toMatchObject({
    pid: sol.process.pid,
    sessionId: sol.threadId,
    cwd: world.work,
    version: CODEX_VERSION,
    model: 'scripted',
    effort: 'high',
    bridge: 'peerwire',
    status: 'idle',
  });
  const shown = { pid: sol.process.pid, sessionId: sol.threadId, cwd: world.work, name: 'Sol' };
  expect(await talk.listed('Sol')).toMatchObject({ ...shown, status: 'idle' });
  const statuses = await statusesOf(world, 'Sol', async () => {
    await talk.brief(alpha, 'Sol', `busy ${answered('status', 'done')}`);
    expect(await talk.listed('Sol')).toMatchObject({ ...shown, status: 'busy' });
    const told = talk.nextShown(alpha);
    bench.model.release('status');
    await told;
    await untilStatus(world, 'Sol', 'idle');
  });
  expect(statuses).toEqual(['idle', 'busy', 'idle']);
});

test.each([
  ['quits', (session: ClaudeSession) => session.close()],
  ['is killed', (session: ClaudeSession) => session.kill()],
])('a Claude that %s before the answer changes nothing for the next one', async (how, end) => {
  const gone = await talk.start(`gone ${how}`);
  const id = await talk.brief(gone, 'Sol', `too late ${answered(how, 'for nobody')}`);
  await end(gone);
  bench.model.release(how);
  await poll(() => deliveriesOf(world, 'Sol', id).length > 0, 10_000, 'nothing became of the answer');
  const { msgId } = await other.send({ to: 'Sol', text: `and you? ${script([[final('fine')]])}` });
  expect(await replyTo(other, msgId)).toMatchObject({ kind: 'answer', body: 'fine' });
  expect(deliveriesOf(world, 'Sol', id)).toEqual(['not-sent']);
});

test('a session resumed in another process meanwhile gets the answer', async () => {
  const before = await talk.start('mover');
  const { sessionId } = before;
  const id = await talk.brief(before, 'Sol', `wait for me ${answered('moved', 'you moved')}`);
  await before.close();
  const after = await talk.start('mover', ['--resume', sessionId]);
  expect(after.sessionId).toBe(sessionId);
  const shown = talk.nextShown(after);
  bench.model.release('moved');
  expect(await shown).toEqual(fromSol('you moved', id));
});

describe('with a pane', () => {
  let pane: Pane;
  beforeAll(async () => {
    const tmux = world.own(new Tmux(world));
    const command = [...peerCommand, 'open', 'Luna', '--approval', 'on-request'];
    pane = await tmux.open({ command, cols: 120, rows: 40 });
    await poll(
      () => rowsOf(world.env).find(({ name }) => name === 'Luna')?.messagingSocketPath,
      20_000,
      'Luna did not open',
    );
  });

  test('the answer comes back the same, and the screen shows brief and answer', async () => {
    const id = await talk.brief(alpha, 'Luna', `hello there ${answered('pane', 'Luna here')}`);
    const shown = talk.nextShown(alpha);
    bench.model.release('pane');
    expect(await shown).toMatchObject({ name: 'Luna', body: `Luna here\n\n(answer to ${id.slice(0, 8)})` });
    await pane.waitFor(/^› Message from Claude session "alpha"[\s\S]*hello there[\s\S]*^• Luna here$/m);
    expect(rowOf(world, 'Luna').tmux).toBe(await pane.format('#{session_name}:#{window_id}.#{pane_id}'));
  });

  test('while a command waits for approval the row says so; the person approves, and the answer comes', async () => {
    const args = {
      cmd: 'touch approved',
      sandbox_permissions: 'require_escalated',
      justification: 'to write',
    };
    const rounds = [[{ hold: 'approval' }, { call: 'exec_command', args }], [final('written')]];
    const statuses = await statusesOf(world, 'Luna', async () => {
      const id = await talk.brief(alpha, 'Luna', `write it ${script(rounds)}`);
      const shown = talk.nextShown(alpha);
      bench.model.release('approval');
      await untilStatus(world, 'Luna', 'waiting: permission prompt');
      expect(await talk.listed('Luna')).toMatchObject({ status: 'waiting' });
      await pane.waitFor(/Would you like to run the following command\?[\s\S]*\$ touch approved/);
      await pane.keys('y');
      expect((await shown).body).toBe(`written\n\n(answer to ${id.slice(0, 8)})`);
      await untilStatus(world, 'Luna', 'idle');
    });
    expect(statuses).toEqual(['idle', 'busy', 'waiting: permission prompt', 'busy', 'idle']);
    expect(existsSync(join(world.work, 'approved'))).toBe(true);
  });
});
