import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ClaudeModel } from './claude-model.ts';
import { ClaudeTalk } from './claude-talk.ts';
import type { ModelRequest } from './codex-model.ts';
import { final, script } from './model-script.ts';
import { runPeer } from './peer-process.ts';
import type { ReceivedFrame, ScriptPeer } from './script-peer.ts';
import { openRawClient, openSender, openSol, replyTo, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';
import { call, ToolBench } from './tool-bench.ts';

let world: World;
let tools: ToolBench;
let alpha: ScriptPeer;
let beta: ScriptPeer;

beforeAll(async () => {
  world = openWorld();
  tools = await ToolBench.open(world);
  ({ alpha, beta } = tools);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

describe('ask', () => {
  /** alpha's brief makes Sol ask beta; resolves when the question is there. */
  async function asks(
    args: object = {},
  ): Promise<{ readonly msgId: string; readonly question: ReceivedFrame }> {
    const coming = tools.nextAtBeta();
    const msgId = await tools.brief('find out', call('ask', { to: 'beta', text: 'why?', ...args }));
    return { msgId, question: await coming };
  }

  test('a person asks Sol, Sol asks a native session, and the person gets its word', async () => {
    const from = tools.model.requests.length;
    const coming = tools.nextAtBeta();
    const steps = [[call('ask', { to: 'beta', text: 'what is the answer?' })]];
    const person = runPeer(['ask', 'Sol', `ask beta ${script(steps)}`], { env: world.env });
    const question = await coming;
    expect(question.frame).toMatchObject({ peerwire: { kind: 'message', ask: true } });
    await beta.reply(question, 'forty-two');
    const { stdout, code } = await person;
    expect(code).toBe(0);
    expect(stdout).toContain('Answer from beta:\\n\\nforty-two');
    expect(tools.model.requests.length - from).toBe(2);
  });

  test('of a native session that goes idle in silence ends with its last words', async () => {
    const from = beta.received.length;
    const { msgId } = await asks();
    await tools.idleNotice(await tools.subscriptionAtBeta(from), 'idle', 'done here');
    expect(await tools.result(msgId)).toMatch(
      /^beta went idle without answering .* Its last words: done here$/,
    );
  });

  test('is not ended by being held, but by being denied', async () => {
    const { msgId, question } = await asks();
    await tools.receipt(question, 'held');
    await tools.receipt(question, 'denied');
    expect(await tools.result(msgId)).toMatch(
      /^Your question [0-9a-f]{8} to beta was denied by the person there/,
    );
  });

  test('ends at its deadline, and the answer that comes later is a message', async () => {
    const { msgId, question } = await asks({ deadline_seconds: 0.5 });
    expect(await tools.result(msgId)).toMatch(/^No answer from beta within 0\.5 s\./);
    const { msgId: late } = await beta.reply(question, 'because');
    expect((await replyTo(beta, late)).body).toMatch(/^echo: Message from Claude session "beta".*because$/s);
  });

  test('ends when the other side asks back meanwhile, and its question comes next', async () => {
    const { msgId, question } = await asks();
    const mark = { kind: 'message', ask: true };
    const { msgId: back } = await beta.reply(question, `and you? ${script([[final('fine')]])}`, { mark });
    expect(await tools.result(msgId)).toMatch(
      /^beta asked you at the same moment, so neither waits for the other\./,
    );
    expect((await replyTo(beta, back)).body).toBe('fine');
  });

  test('ends when the process that was asked ends', async () => {
    const gone = await openSender(tools.bench, 'gone');
    const asked = gone.waitForMessage('still there?');
    const msgId = await tools.brief('find out', call('ask', { to: 'gone', text: 'still there?' }));
    await asked;
    await gone.kill();
    expect(await tools.result(msgId)).toMatch(/^gone ended before it answered\./);
  });

  test('whose turn is broken off lets the answer come as a message', async () => {
    const other = await openRawClient(tools.bench);
    await other.call('thread/resume', { threadId: tools.sol.threadId, excludeTurns: true });
    const { msgId, question } = await asks();
    const [turn] = await other.turns(tools.sol.threadId);
    await other.call('turn/interrupt', { threadId: tools.sol.threadId, turnId: turn.id });
    expect((await replyTo(alpha, msgId)).outcome).toBe('no-answer');
    const { msgId: answer } = await beta.reply(question, 'because');
    expect((await replyTo(beta, answer)).body).toContain('because');
  });
});

describe('two wrapped peers', () => {
  let luna: Sol;
  beforeAll(async () => {
    luna = await openSol(tools.bench, [], 'Luna');
  });
  afterAll(() => luna.process.stop());

  test('a message and its answer cost four model requests, not a loop', async () => {
    const from = tools.model.requests.length;
    const text = `look at this ${script([[final('looked')]])}`;
    const steps = [[call('send_message', { to: 'Luna', text })], [final('briefed')]];
    const { msgId } = await alpha.send({ to: 'Sol', text: `brief ${script(steps)}` });
    expect((await replyTo(alpha, msgId)).body).toBe('briefed');
    await tools.model.waitForRequest(/^Answer from Codex peer "Luna"[^\n]* to your message/);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(tools.model.requests.length - from).toBe(4);
  });

  test('an answer to a question is the result of the call and starts no turn', async () => {
    const from = tools.model.requests.length;
    const steps = [[call('ask', { to: 'Luna', text: `which? ${script([[final('the second')]])}` })]];
    const { msgId } = await alpha.send({ to: 'Sol', text: `find out ${script(steps)}` });
    expect(await tools.result(msgId)).toMatch(
      /^Answer from Luna:\n\nthe second\n\n\(answer to [0-9a-f]{8}\)$/,
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(tools.model.requests.length - from).toBe(3);
  });

  test('who is asked does not ask back: the call is refused and the turn can end with the answer', async () => {
    const back = script([[call('ask', { to: 'Sol', text: 'what do you mean?' })]]);
    const steps = [[call('ask', { to: 'Luna', text: `which? ${back}` })]];
    const { msgId } = await alpha.send({ to: 'Sol', text: `find out ${script(steps)}` });
    expect(await tools.result(msgId)).toContain('Not asked: Sol stands still until you answer its question');
  });

  test('who ask each other do not wait for ever, whoever was first', async () => {
    const delta = await openSender(tools.bench, 'delta');
    const asking = (to: string, mine: string) => {
      const question = `${mine} ${script([[final(`the answer to ${mine}`)]])}`;
      return `go ${script([[{ hold: 'both' }, call('ask', { to, text: question })]])}`;
    };
    const first = await alpha.send({ to: 'Sol', text: asking('Luna', 'Q1') });
    const second = await delta.send({ to: 'Luna', text: asking('Sol', 'Q2') });
    const isHeld = ({ text, end }: ModelRequest) => end === 'running' && text.includes('both');
    await expect.poll(() => tools.model.requests.filter(isHeld).length).toBe(2);
    tools.model.release('both');
    const ends = [await replyTo(alpha, first.msgId), await replyTo(delta, second.msgId)];
    for (const { kind, body } of ends) {
      expect(kind).toBe('answer');
      expect(body).toMatch(/asked you at the same moment|Not asked: \w+ stands still|the answer to Q[12]/);
    }
  });

  test('when one closes, a question to it ends with its note', async () => {
    const mars = await openSol(tools.bench, [], 'Mars');
    const text = `long ${script([[{ hold: 'for ever' }]])}`;
    const msgId = await tools.brief('find out', call('ask', { to: 'Mars', text }));
    await tools.model.held('for ever');
    await mars.process.stop();
    expect(await tools.result(msgId)).toMatch(
      /^Mars gives no answer:\n\n\[no answer to [0-9a-f]{8}: closed\]/,
    );
  });
});

test('a peer that closes ends the questions that wait in it', async () => {
  const nova = await openSol(tools.bench, [], 'Nova');
  const other = await openRawClient(tools.bench);
  await other.call('thread/resume', { threadId: nova.threadId, excludeTurns: true });
  const coming = tools.nextAtBeta();
  const turn = await other.startTurn(
    nova.threadId,
    `typed ${script([[call('ask', { to: 'beta', text: 'still?' })]])}`,
  );
  await coming;
  await nova.process.stop();
  const { items } = await other.turnEnd(turn);
  expect(items[0].text).toContain("Nova is being closed, so nobody waits for beta's answer any more.");
});

test('a real Claude session is written to, asked, and its answers are messages and results', async () => {
  const talk = new ClaudeTalk(world, world.own(await ClaudeModel.start()));
  const claude = await talk.start('Cleo');
  const said = (text: string) =>
    `@@tool SendMessage ${JSON.stringify({ to: 'Sol', message: text })} @@say sent`;

  const told = await tools.brief(
    'tell',
    call('send_message', { to: 'Cleo', text: `a question ${said('an answer')}` }),
  );
  expect(await tools.result(told)).toMatch(/^Sent to Cleo/);
  const next = await tools.model.waitForRequest(/^Message from Claude session "Cleo".*an answer$/s);
  expect(next.text).toContain('your whole reply is sent back');
  await claude.nextResult();
  await claude.nextResult();

  const from = tools.model.requests.length;
  const asked = await tools.brief(
    'ask',
    call('ask', { to: 'Cleo', text: `now wait ${said('the word of Cleo')}` }),
  );
  expect(await tools.result(asked)).toBe('Answer from Cleo:\n\nthe word of Cleo');
  await claude.nextResult();
  expect(tools.model.requests.length - from).toBe(2);

  const silent = await tools.brief(
    'ask',
    call('ask', { to: 'Cleo', text: 'say nothing @@say just thinking' }),
  );
  expect(await tools.result(silent)).toMatch(
    /^Cleo went idle without answering .* Its last words: just thinking$/,
  );
});
