import { expect, test } from 'vitest';
import { CodexDaemon } from './codex-daemon.ts';
import { fillCodexHome } from './codex-home.ts';
import { CodexModel } from './codex-model.ts';
import { final, script } from './model-script.ts';
import { openSender, openSol, replyTo } from './sol.ts';
import { openWorld } from './temp.ts';
import { call } from './tool-bench.ts';

const ask = call('ask', { to: 'beta', text: 'which one?' });

async function openDaemon() {
  const world = openWorld();
  const model = world.own(await CodexModel.start());
  await fillCodexHome(world, model, { packages: true });
  const daemon = world.own(await CodexDaemon.start(world));
  const bench = { world, model };
  const alpha = world.own(await openSender(bench, 'alpha'));
  const beta = world.own(await openSender(bench, 'beta'));
  await openSol(bench, [], 'Sol');
  const brief = await alpha.send({ to: 'Sol', text: `find out ${script([[ask]])}` });
  const question = await beta.waitForMessage('which one?');
  return { world, model, daemon, alpha, beta, brief, question };
}

test('a question outlives a restart of the daemon: it is asked once, and the turn that goes on gets the answer', async () => {
  const { world, model, daemon, alpha, beta, brief, question } = await openDaemon();
  await using _ = world;
  model.on(/daemon_recovery/, [[{ hold: 'recovery' }, ask]]);
  await daemon.command('restart');
  await model.held('recovery');
  model.release('recovery');
  await expect
    .poll(() => model.requests.filter(({ text }) => text.includes('daemon_recovery')).length)
    .toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await beta.reply(question, 'the second');
  const told = await replyTo(alpha, brief.msgId, 20_000);
  expect(told).toMatchObject({
    kind: 'answer',
    body: expect.stringContaining('Answer from beta:\\n\\nthe second'),
  });
  expect(beta.messages).toHaveLength(1);
});

test('an answer that comes during the restart is given to the turn that goes on', async () => {
  const { world, model, daemon, alpha, beta, brief, question } = await openDaemon();
  await using _ = world;
  model.on(/daemon_recovery/, [[{ hold: 'recovery' }, ask]]);
  await daemon.command('restart');
  await model.held('recovery');
  await beta.reply(question, 'the second');
  model.release('recovery');
  const told = await replyTo(alpha, brief.msgId, 20_000);
  expect(told).toMatchObject({
    kind: 'answer',
    body: expect.stringContaining('Answer from beta:\\n\\nthe second'),
  });
  expect(beta.messages).toHaveLength(1);
});

test('an answer that no turn asks for any more is a message of its own', async () => {
  const { world, model, daemon, alpha, beta, brief, question } = await openDaemon();
  await using _ = world;
  model.on(/daemon_recovery/, [[final('gave up')]]);
  await daemon.command('restart');
  expect((await replyTo(alpha, brief.msgId, 20_000)).body).toBe('gave up');
  const { msgId } = await beta.reply(question, 'the second');
  expect((await replyTo(beta, msgId, 20_000)).body).toContain('the second');
});
