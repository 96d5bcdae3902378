import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { final, script } from './model-script.ts';
import { runPeer } from './peer-process.ts';
import type { ReceivedFrame, ScriptPeer } from './script-peer.ts';
import { openRawClient, openSender, openSol, replyTo } from './sol.ts';
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

test('a new thread has the tools, one that was started elsewhere has none, and list and log say so', async () => {
  const other = await openRawClient(tools.bench);
  const id = await other.startThread(world.work);
  const old = await openSol(tools.bench, ['--thread', id], 'Old');
  const { stdout } = await runPeer(['list', '--json'], { env: world.env });
  const toolsOf = (name: string) =>
    JSON.parse(stdout).find((peer: { name: string }) => peer.name === name).tools;
  expect([toolsOf('Sol'), toolsOf('Old'), toolsOf('alpha')]).toEqual(['dynamic', 'none', null]);
  await old.process.stop();
  const logged = (name: string) => readFileSync(join(world.stateDir, 'peer', 'logs', `${name}.log`), 'utf8');
  expect(logged('Sol')).toMatch(/"event":"open".*"tools":"dynamic"/);
  expect(logged('Old')).toMatch(/"event":"open".*"tools":"none"/);
});

test('list_agents shows the others, not Sol itself', async () => {
  const text = await tools.result(await tools.brief('who is there?', call('list_agents')));
  expect(text).toMatch(/^You are Sol\. You can message:\n/);
  expect(text).toMatch(new RegExp(`^- beta \\(Claude session, .*pid ${beta.pid}\\)$`, 'm'));
  expect(text).not.toContain('- Sol');
});

describe('send_message', () => {
  test('writes what Claude would write, begun by whom it was begun, and does not wait', async () => {
    const hop = 'c0ffee00c0ffee00c0ffee00';
    const coming = tools.nextAtBeta();
    const steps = [[call('send_message', { to: 'BETA', text: 'a word from Sol' })]];
    const { msgId } = await alpha.send({ to: 'Sol', text: `tell ${script(steps)}`, hopChain: [hop] });
    const frame = await coming;
    const header =
      /^<cross-session-message from="uds:[^"]+" hop-chain="[0-9a-f]{24},[0-9a-f]{24},[0-9a-f]{24}" from-name="Sol" from-mode="prompting">\n/;
    expect(frame.content).toMatch(header);
    expect(frame.content).toContain(hop);
    expect(frame).toMatchObject({ authed: true, body: 'a word from Sol' });
    expect(frame.frame).toMatchObject({ priority: 'next', peerwire: { kind: 'message' } });
    expect(await tools.result(msgId)).toBe(
      `Sent to beta (id ${frame.frame?.msg_id?.slice(0, 8)}); whether it was read is not known. Nothing waits for an answer: one comes later as a message of its own. The final answer of this turn goes to Claude session "alpha".`,
    );
  });

  test("is answered by a message that starts Sol's next turn, whose final goes back", async () => {
    const coming = tools.nextAtBeta();
    await replyTo(
      alpha,
      await tools.brief('tell', call('send_message', { to: 'beta', text: 'what do you think?' })),
    );
    const asked = await coming;
    const { msgId } = await beta.reply(asked, `I think so ${script([[final('noted')]])}`);
    expect((await replyTo(beta, msgId)).body).toBe('noted');
  });

  test('says at once that the message is held', async () => {
    const coming = tools.nextAtBeta();
    const msgId = await tools.brief('tell', call('send_message', { to: 'beta', text: 'may I?' }));
    await tools.receipt(await coming, 'held');
    expect(await tools.result(msgId)).toMatch(
      /to beta is held there until a person approves it\. Do not send it again\./,
    );
  });

  test.each([
    ['nobody', 'bet', 'No peer named "bet" is running; nothing was sent. Did you mean "beta"?'],
    ['itself', 'sol', 'Not sent: Sol is you yourself.'],
  ])('to %s is an error with the reason', async (_, to, words) => {
    expect(await tools.result(await tools.brief('tell', call('send_message', { to, text: 'x' })))).toBe(
      words,
    );
  });

  test('to one of two of the same name lists both with their pids, and takes a pid', async () => {
    const twins = [await openSender(tools.bench, 'Twin'), await openSender(tools.bench, 'twin')];
    const [first] = twins;
    const text = await tools.result(
      await tools.brief('tell', call('send_message', { to: 'Twin', text: 'x' })),
    );
    expect(text).toContain('2 peers are named "Twin"; nothing was sent. Give the pid');
    for (const { pid } of twins) expect(text).toContain(String(pid));
    await tools.result(
      await tools.brief('tell', call('send_message', { to: String(first?.pid), text: 'by pid' })),
    );
    await first?.waitForMessage('by pid');
  });

  test('of more than a frame holds is not sent', async () => {
    tools.model.on(/too large/, () => [[call('send_message', { to: 'beta', text: 'x'.repeat(1_100_000) })]]);
    const { msgId } = await alpha.send({ to: 'Sol', text: 'too large' });
    expect(await tools.result(msgId)).toMatch(
      /^Not sent: the message is 11\d{5} characters .* Put the text in a file/,
    );
  });
});

describe('what is heard of a message later', () => {
  /** Sol sends this, and its turn is over. */
  async function sent(text: string, args: object = {}): Promise<ReceivedFrame> {
    const coming = tools.nextAtBeta();
    await replyTo(alpha, await tools.brief('tell', call('send_message', { to: 'beta', text, ...args })));
    return coming;
  }

  test('a denied one starts one turn of an idle Sol; what is sent in that turn starts none', async () => {
    const first = await sent('a plan');
    tools.model.on(/^\[Delivery notice\].*denied/, [
      [call('send_message', { to: 'beta', text: 'never mind' })],
    ]);
    const coming = tools.nextAtBeta();
    const from = tools.model.requests.length;
    await tools.receipt(first, 'denied');
    const second = await coming;
    await expect.poll(() => tools.askedSince(from).length).toBe(2);
    expect(tools.askedSince(from)[0]).toMatch(
      /^\[Delivery notice\] Your message [0-9a-f]{8} to beta was denied by the person there and is not delivered\. Do not send it again\.\nNothing you write here is sent to anybody\.$/,
    );
    await tools.receipt(first, 'expired');
    await tools.receipt(second, 'refused');
    await replyTo(alpha, await tools.brief('one more'));
    const [text, ...others] = tools.askedSince(from + 2);
    expect(others).toEqual([]);
    expect(text).toMatch(
      /^While you were away:\n- Your message [0-9a-f]{8} to beta was not approved there in time .*\n- Your message [0-9a-f]{8} to beta was refused there .* It says: says beta\n\nMessage from Claude session "alpha"/,
    );
  });

  test('an idle notice and a delivered one wait for the next message', async () => {
    const from = beta.received.length;
    const message = await sent('tell me when', { notify_when_idle: true });
    const subscription = await tools.subscriptionAtBeta(from);
    const asked = tools.model.requests.length;
    await tools.receipt(message, 'delivered');
    await tools.idleNotice(subscription, 'idle', 'all <tests> pass');
    await replyTo(alpha, await tools.brief('anything new?'));
    const [text, ...others] = tools.askedSince(asked);
    expect(others).toEqual([]);
    expect(text).toMatch(
      /^While you were away:\n- Your message [0-9a-f]{8} to beta was approved there and has been delivered\.\n- beta is idle again\. Its last words: all <tests> pass\n\nMessage from/,
    );
  });

  test('a receipt in the middle of a turn waits for its end', async () => {
    const message = await sent('another plan');
    const from = tools.model.requests.length;
    const { msgId } = await alpha.send({
      to: 'Sol',
      text: `work ${script([[{ hold: 'working' }, final('worked')]])}`,
    });
    await tools.model.held('working');
    await tools.receipt(message, 'held');
    tools.model.on(/^\[Delivery notice\].*is held/, [[final('I see')]]);
    tools.model.release('working');
    expect((await replyTo(alpha, msgId)).body).toBe('worked');
    await expect.poll(() => tools.askedSince(from).length).toBe(2);
    expect(tools.askedSince(from)[1]).toMatch(
      /^\[Delivery notice\] Your message [0-9a-f]{8} to beta is held there/,
    );
  });

  test('what comes too fast for the other side is sent again without a word', async () => {
    const message = await sent('again please');
    const again = tools.nextAtBeta();
    await tools.receipt(message, 'dropped', { drop_reason: 'rate-limited' });
    expect((await again).raw).toBe(message.raw);
  });
});
