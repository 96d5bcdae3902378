import { expect, test } from 'vitest';
import { openSol, replyTo } from './sol.ts';
import { openWorld } from './temp.ts';
import { call, ToolBench } from './tool-bench.ts';

test('a message whose wrapper was killed before the call had its result is written once, and the model is told', async () => {
  await using world = openWorld();
  const bench = await ToolBench.open(world);
  const { sol, alpha, beta, model } = bench;
  const brief = await bench.brief('send it', call('send_message', { to: 'beta', text: 'only once' }));
  await beta.waitForMessage('only once');
  process.kill(sol.process.pid, 'SIGKILL');
  await sol.process.exited;
  await openSol(bench.bench, [], 'Sol');
  await replyTo(alpha, brief, 20_000);
  expect(beta.messages).toHaveLength(1);
  expect(JSON.stringify(model.requests.at(-1)?.input)).toContain('made before the peer was opened again');
});
