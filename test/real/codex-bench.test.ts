import { expect, test } from 'vitest';
import { fillCodexHome } from './codex-home.ts';
import { CodexModel } from './codex-model.ts';
import { CodexServer } from './codex-server.ts';
import { commentary, final, script } from './model-script.ts';
import { openWorld, type World } from './temp.ts';

/** A world with the scripted model and a private server. */
async function openCodex(world: World) {
  const model = world.own(await CodexModel.start());
  await fillCodexHome(world, model);
  const server = world.own(await CodexServer.start(world));
  return { model, server };
}

test('a turn on a private server is answered by the script at the end of the message', async () => {
  await using world = openWorld();
  const { model, server } = await openCodex(world);
  const client = world.own(await server.client());
  const thread = await client.startThread(world.work);

  const turnId = await client.startTurn(
    thread,
    `review ${script([[commentary('looking'), final('looks fine')]])}`,
  );
  const turn = await client.turnEnd(turnId);

  expect(turn.status).toBe('completed');
  expect(turn.items.at(-1).text).toBe('looks fine');
  expect((await model.waitForRequest(/^review/)).end).toBe('answered');
});
