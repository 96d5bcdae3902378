import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ClaudeModel } from './claude-model.ts';
import { ClaudeTalk } from './claude-talk.ts';
import type { ModelRequest } from './codex-model.ts';
import { final, type Step, script } from './model-script.ts';
import { runPeer } from './peer-process.ts';
import type { ReceivedFrame, ScriptPeer } from './script-peer.ts';
import { type Bench, openBench, openRawClient, openSender, openSol, replyTo, type Sol } from './sol.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

let world: World;
let bench: Bench;
/** Who briefs Sol. */
let alpha: ScriptPeer;
/** Whom Sol writes to. */
let beta: ScriptPeer;
let sol: Sol;

beforeAll(async () => {
  world = openWorld();
  bench = await openBench(world);
  alpha = await openSender(bench, 'alpha');
  beta = await openSender(bench, 'beta');
  sol = await openSol(bench, [], 'Sol');
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

const call = (tool: string, args: object = {}): Step => ({ call: tool, args });

/** A brief whose model does these steps and answers with the result of the last call. */
async function brief(words: string, ...steps: readonly Step[]): Promise<string> {
  const { msgId } = await alpha.send({ to: 'Sol', text: `${words} ${script(steps.map((step) => [step]))}` });
  return msgId;
}

/** The result of the last call of that brief, as Sol's model was given it. */
async function result(msgId: string): Promise<string> {
  await replyTo(alpha, msgId);
  return lastOutput(bench.model.requests.findLast(({ input }) => lastOutputOf(input) !== null));
}

function lastOutput(request: ModelRequest | undefined): string {
  return lastOutputOf(request?.input ?? []) ?? '';
}

function lastOutputOf(input: ModelRequest['input']): string | null {
  const output = input.at(-1)?.output;
  return output === undefined ? null : String(output);
}

/** beta's next message after this moment. */
function nextAtBeta(): Promise<ReceivedFrame> {
  return beta.waitForFrame(({ frame }) => frame?.type === 'user', 10_000, beta.received.length);
}

function subscriptionAt(peer: ScriptPeer, from: number): Promise<ReceivedFrame> {
  return peer.waitForFrame(({ frame }) => frame?.action === 'notify_when_idle', 10_000, from);
}

/** What a native peer says became of a message. */
async function receipt(of: ReceivedFrame, status: string, fields: object = {}): Promise<void> {
  const about = { orig_msg_id: of.frame?.msg_id, status, reason: 'says beta', from: beta.address, msgV: 1 };
  await beta.control({ to: 'Sol', fields: { action: 'peer_message_status', ...about, ...fields } });
}

async function idleNotice(of: ReceivedFrame, state: string, detail?: string): Promise<void> {
  const about = { orig_msg_id: of.frame?.msg_id, state, detail, from: beta.address, msgV: 1 };
  await beta.control({ to: 'Sol', fields: { action: 'peer_idle_notice', ...about } });
}

test('a new thread has the tools, one that was started elsewhere has none, and list and log say so', async () => {
  const other = await openRawClient(bench);
  const id = await other.startThread(world.work);
  const old = await openSol(bench, ['--thread', id], 'Old');
  const { stdout } = await runPeer(['list', '--json'], { env: world.env });
  const toolsOf = (name: string) =>
    JSON.parse(stdout).find((peer: { name: string }) => peer.name === name).tools;
  expect([toolsOf('Sol'), toolsOf('Old'), toolsOf('alpha')]).toEqual(['dynamic', 'none', null]);
  await old.process.stop();
  const logged = (name: string) => readFileSync(join(world.stateDir, 'peer', 'logs', `${name}.log`), 'utf8');
  expect(logged('Sol')).toMatch(/"event":"open".*"tools":"dynamic"/);
  expect(logged('Old')).toMatch(/"event":"open".*"tools":"none"/);
  const again = await openSol(bench, [], 'Old');
  await again.process.stop();
});

test('list_agents shows the others, not Sol itself', async () => {
  const text = await result(await brief('who is there?', call('list_agents')));
  expect(text).toMatch(/^You are Sol\. You can message:\n/);
  expect(text).toMatch(new RegExp(`^- beta \\(Claude session, .*pid ${beta.pid}\\)$`, 'm'));
  expect(text).not.toContain('- Sol');
});

describe('send_message', () => {
  test('writes what Claude would write, begun by whom it was begun, and does not wait', async () => {
    const hop = 'c0ffee00c0ffee00c0ffee00';
    const coming = nextAtBeta();
    const steps = [[call('send_message', { to: 'BETA', text: 'a word from Sol' })]];
    const { msgId } = await alpha.send({ to: 'Sol', text: `tell ${script(steps)}`, hopChain: [hop] });
    const frame = await coming;
    const header =
      /^<cross-session-message from="uds:[^"]+" hop-chain="[0-9a-f]{24},[0-9a-f]{24},[0-9a-f]{24}" from-name="Sol" from-mode="prompting">\n/;
    expect(frame.content).toMatch(header);
    expect(frame.content).toContain(hop);
    expect(frame).toMatchObject({ authed: true, body: 'a word from Sol' });
    expect(frame.frame).toMatchObject({ priority: 'next', peerwire: { kind: 'message' } });
    expect(await result(msgId)).toBe(
      `Sent to beta (id ${frame.frame?.msg_id?.slice(0, 8)}); whether it was read is not known. Nothing waits for an answer: one comes later as a message of its own. The final answer of this turn goes to Claude session "alpha".`,
    );
  });

  test("is answered by a message that starts Sol's next turn, whose final goes back", async () => {
    const coming = nextAtBeta();
    await replyTo(
      alpha,
      await brief('tell', call('send_message', { to: 'beta', text: 'what do you think?' })),
    );
    const asked = await coming;
    const { msgId } = await beta.reply(asked, `I think so ${script([[final('noted')]])}`);
    expect((await replyTo(beta, msgId)).body).toBe('noted');
  });

  test('says at once that the message is held', async () => {
    const coming = nextAtBeta();
    const msgId = await brief('tell', call('send_message', { to: 'beta', text: 'may I?' }));
    await receipt(await coming, 'held');
    expect(await result(msgId)).toMatch(
      /to beta is held there until a person approves it\. Do not send it again\./,
    );
  });

  test.each([
    ['nobody', 'bet', 'No peer named "bet" is running; nothing was sent. Did you mean "beta"?'],
    ['itself', 'sol', 'Not sent: Sol is you yourself.'],
  ])('to %s is an error with the reason', async (_, to, words) => {
    expect(await result(await brief('tell', call('send_message', { to, text: 'x' })))).toBe(words);
  });

  test('to one of two of the same name lists both with their pids, and takes a pid', async () => {
    const twins = [await openSender(bench, 'Twin'), await openSender(bench, 'twin')];
    const [first] = twins;
    const text = await result(await brief('tell', call('send_message', { to: 'Twin', text: 'x' })));
    expect(text).toContain('2 peers are named "Twin"; nothing was sent. Give the pid');
    for (const { pid } of twins) expect(text).toContain(String(pid));
    await result(await brief('tell', call('send_message', { to: String(first?.pid), text: 'by pid' })));
    await first?.waitForMessage('by pid');
  });

  test('of more than a frame holds is not sent', async () => {
    bench.model.on(/too large/, () => [[call('send_message', { to: 'beta', text: 'x'.repeat(1_100_000) })]]);
    const { msgId } = await alpha.send({ to: 'Sol', text: 'too large' });
    expect(await result(msgId)).toMatch(
      /^Not sent: the message is 11\d{5} characters .* Put the text in a file/,
    );
  });
});

describe('what is heard of a message later', () => {
  /** Sol sends this, and its turn is over. */
  async function sent(text: string, args: object = {}): Promise<ReceivedFrame> {
    const coming = nextAtBeta();
    await replyTo(alpha, await brief('tell', call('send_message', { to: 'beta', text, ...args })));
    return coming;
  }

  /** The texts that Sol's model was asked with since `from`. */
  const askedSince = (from: number) => bench.model.requests.slice(from).map(({ text }) => text);

  test('a denied one starts one turn of an idle Sol; what is sent in that turn starts none', async () => {
    const first = await sent('a plan');
    bench.model.on(/^\[Delivery notice\].*denied/, [
      [call('send_message', { to: 'beta', text: 'never mind' })],
    ]);
    const coming = nextAtBeta();
    const from = bench.model.requests.length;
    await receipt(first, 'denied');
    const second = await coming;
    await expect.poll(() => askedSince(from).length).toBe(2);
    expect(askedSince(from)[0]).toMatch(
      /^\[Delivery notice\] Your message [0-9a-f]{8} to beta was denied by the person there and is not delivered\. Do not send it again\.\nNothing you write here is sent to anybody\.$/,
    );
    await receipt(first, 'expired');
    await receipt(second, 'refused');
    await replyTo(alpha, await brief('one more'));
    const [text, ...others] = askedSince(from + 2);
    expect(others).toEqual([]);
    expect(text).toMatch(
      /^While you were away:\n- Your message [0-9a-f]{8} to beta was not approved there in time .*\n- Your message [0-9a-f]{8} to beta was refused there .* It says: says beta\n\nMessage from Claude session "alpha"/,
    );
  });

  test('an idle notice and a delivered one wait for the next message', async () => {
    const from = beta.received.length;
    const message = await sent('tell me when', { notify_when_idle: true });
    const subscription = await subscriptionAt(beta, from);
    const asked = bench.model.requests.length;
    await receipt(message, 'delivered');
    await idleNotice(subscription, 'idle', 'all <tests> pass');
    await replyTo(alpha, await brief('anything new?'));
    const [text, ...others] = askedSince(asked);
    expect(others).toEqual([]);
    expect(text).toMatch(
      /^While you were away:\n- Your message [0-9a-f]{8} to beta was approved there and has been delivered\.\n- beta is idle again\. Its last words: all <tests> pass\n\nMessage from/,
    );
  });

  test('a receipt in the middle of a turn waits for its end', async () => {
    const message = await sent('another plan');
    const from = bench.model.requests.length;
    const { msgId } = await alpha.send({
      to: 'Sol',
      text: `work ${script([[{ hold: 'working' }, final('worked')]])}`,
    });
    await bench.model.held('working');
    await receipt(message, 'held');
    bench.model.on(/^\[Delivery notice\].*is held/, [[final('I see')]]);
    bench.model.release('working');
    expect((await replyTo(alpha, msgId)).body).toBe('worked');
    await expect.poll(() => askedSince(from).length).toBe(2);
    expect(askedSince(from)[1]).toMatch(
      /^\[Delivery notice\] Your message [0-9a-f]{8} to beta is held there/,
    );
  });

  test('what comes too fast for the other side is sent again without a word', async () => {
    const message = await sent('again please');
    const again = nextAtBeta();
    await receipt(message, 'dropped', { drop_reason: 'rate-limited' });
    expect((await again).raw).toBe(message.raw);
  });
});

describe('ask', () => {
  /** alpha's brief makes Sol ask beta; resolves when the question is there. */
  async function asks(
    args: object = {},
  ): Promise<{ readonly msgId: string; readonly question: ReceivedFrame }> {
    const coming = nextAtBeta();
    const msgId = await brief('find out', call('ask', { to: 'beta', text: 'why?', ...args }));
    return { msgId, question: await coming };
  }

  test('a person asks Sol, Sol asks a native session, and the person gets its word', async () => {
    const from = bench.model.requests.length;
    const coming = nextAtBeta();
    const steps = [[call('ask', { to: 'beta', text: 'what is the answer?' })]];
    const person = runPeer(['ask', 'Sol', `ask beta ${script(steps)}`], { env: world.env });
    const question = await coming;
    expect(question.frame).toMatchObject({ peerwire: { kind: 'message', ask: true } });
    await beta.reply(question, 'forty-two');
    const { stdout, code } = await person;
    expect(code).toBe(0);
    expect(stdout).toContain('Answer from beta:\\n\\nforty-two');
    expect(bench.model.requests.length - from).toBe(2);
  });

  test('of a native session that goes idle in silence ends with its last words', async () => {
    const from = beta.received.length;
    const { msgId } = await asks();
    await idleNotice(await subscriptionAt(beta, from), 'idle', 'done here');
    expect(await result(msgId)).toMatch(/^beta went idle without answering .* Its last words: done here$/);
  });

  test('is not ended by being held, but by being denied', async () => {
    const { msgId, question } = await asks();
    await receipt(question, 'held');
    await receipt(question, 'denied');
    expect(await result(msgId)).toMatch(/^Your question [0-9a-f]{8} to beta was denied by the person there/);
  });

  test('ends at its deadline, and the answer that comes later is a message', async () => {
    const { msgId, question } = await asks({ deadline_seconds: 0.5 });
    expect(await result(msgId)).toMatch(/^No answer from beta within 0\.5 s\./);
    const { msgId: late } = await beta.reply(question, 'because');
    expect((await replyTo(beta, late)).body).toMatch(/^echo: Message from Claude session "beta".*because$/s);
  });

  test('ends when the other side asks back meanwhile, and its question comes next', async () => {
    const { msgId, question } = await asks();
    const mark = { kind: 'message', ask: true };
    const { msgId: back } = await beta.reply(question, `and you? ${script([[final('fine')]])}`, { mark });
    expect(await result(msgId)).toMatch(
      /^beta asked you at the same moment, so neither waits for the other\./,
    );
    expect((await replyTo(beta, back)).body).toBe('fine');
  });

  test('ends when the process that was asked ends', async () => {
    const gone = await openSender(bench, 'gone');
    const asked = gone.waitForMessage('still there?');
    const msgId = await brief('find out', call('ask', { to: 'gone', text: 'still there?' }));
    await asked;
    await gone.kill();
    expect(await result(msgId)).toMatch(/^gone ended before it answered\./);
  });

  test('whose turn is broken off lets the answer come as a message', async () => {
    const other = await openRawClient(bench);
    await other.call('thread/resume', { threadId: sol.threadId, excludeTurns: true });
    const { msgId, question } = await asks();
    const [turn] = await other.turns(sol.threadId);
    await other.call('turn/interrupt', { threadId: sol.threadId, turnId: turn.id });
    expect((await replyTo(alpha, msgId)).outcome).toBe('no-answer');
    const { msgId: answer } = await beta.reply(question, 'because');
    expect((await replyTo(beta, answer)).body).toContain('because');
  });
});

describe('two wrapped peers', () => {
  let luna: Sol;
  beforeAll(async () => {
    luna = await openSol(bench, [], 'Luna');
  });
  afterAll(() => luna.process.stop());

  test('a message and its answer cost four model requests, not a loop', async () => {
    const from = bench.model.requests.length;
    const text = `look at this ${script([[final('looked')]])}`;
    const steps = [[call('send_message', { to: 'Luna', text })], [final('briefed')]];
    const { msgId } = await alpha.send({ to: 'Sol', text: `brief ${script(steps)}` });
    expect((await replyTo(alpha, msgId)).body).toBe('briefed');
    await bench.model.waitForRequest(/^Answer from Codex peer "Luna"[^\n]* to your message/);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(bench.model.requests.length - from).toBe(4);
  });

  test('an answer to a question is the result of the call and starts no turn', async () => {
    const from = bench.model.requests.length;
    const steps = [[call('ask', { to: 'Luna', text: `which? ${script([[final('the second')]])}` })]];
    const { msgId } = await alpha.send({ to: 'Sol', text: `find out ${script(steps)}` });
    expect(await result(msgId)).toMatch(/^Answer from Luna:\n\nthe second\n\n\(answer to [0-9a-f]{8}\)$/);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(bench.model.requests.length - from).toBe(3);
  });

  test('who is asked does not ask back: the call is refused and the turn can end with the answer', async () => {
    const back = script([[call('ask', { to: 'Sol', text: 'what do you mean?' })]]);
    const steps = [[call('ask', { to: 'Luna', text: `which? ${back}` })]];
    const { msgId } = await alpha.send({ to: 'Sol', text: `find out ${script(steps)}` });
    expect(await result(msgId)).toContain('Not asked: Sol stands still until you answer its question');
  });

  test('who ask each other do not wait for ever, whoever was first', async () => {
    const delta = await openSender(bench, 'delta');
    const asking = (to: string, mine: string) => {
      const question = `${mine} ${script([[final(`the answer to ${mine}`)]])}`;
      return `go ${script([[{ hold: 'both' }, call('ask', { to, text: question })]])}`;
    };
    const first = await alpha.send({ to: 'Sol', text: asking('Luna', 'Q1') });
    const second = await delta.send({ to: 'Luna', text: asking('Sol', 'Q2') });
    const isHeld = ({ text, end }: ModelRequest) => end === 'running' && text.includes('both');
    await expect.poll(() => bench.model.requests.filter(isHeld).length).toBe(2);
    bench.model.release('both');
    const ends = [await replyTo(alpha, first.msgId), await replyTo(delta, second.msgId)];
    for (const { kind, body } of ends) {
      expect(kind).toBe('answer');
      expect(body).toMatch(/asked you at the same moment|Not asked: \w+ stands still|the answer to Q[12]/);
    }
  });

  test('when one closes, a question to it ends with its note', async () => {
    const mars = await openSol(bench, [], 'Mars');
    const text = `long ${script([[{ hold: 'for ever' }]])}`;
    const msgId = await brief('find out', call('ask', { to: 'Mars', text }));
    await bench.model.held('for ever');
    await mars.process.stop();
    expect(await result(msgId)).toMatch(/^Mars gives no answer:\n\n\[no answer to [0-9a-f]{8}: closed\]/);
  });
});

test('a peer that closes ends the questions that wait in it', async () => {
  const nova = await openSol(bench, [], 'Nova');
  const other = await openRawClient(bench);
  await other.call('thread/resume', { threadId: nova.threadId, excludeTurns: true });
  const coming = nextAtBeta();
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

  const told = await brief(
    'tell',
    call('send_message', { to: 'Cleo', text: `a question ${said('an answer')}` }),
  );
  expect(await result(told)).toMatch(/^Sent to Cleo/);
  const next = await bench.model.waitForRequest(/^Message from Claude session "Cleo".*an answer$/s);
  expect(next.text).toContain('your whole reply is sent back');
  await claude.nextResult();
  await claude.nextResult();

  const from = bench.model.requests.length;
  const asked = await brief('ask', call('ask', { to: 'Cleo', text: `now wait ${said('the word of Cleo')}` }));
  expect(await result(asked)).toBe('Answer from Cleo:\n\nthe word of Cleo');
  await claude.nextResult();
  expect(bench.model.requests.length - from).toBe(2);

  const silent = await brief('ask', call('ask', { to: 'Cleo', text: 'say nothing @@say just thinking' }));
  expect(await result(silent)).toMatch(/^Cleo went idle without answering .* Its last words: just thinking$/);
});
