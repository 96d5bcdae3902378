import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ClaudeModel } from './claude-model.ts';
import { ClaudeSession } from './claude-session.ts';
import { ScriptPeer } from './script-peer.ts';
import { openWorld, printWhenFailed, type World } from './temp.ts';

let world: World;
let model: ClaudeModel;
let alpha: ClaudeSession;
let sol: ScriptPeer;

beforeAll(async () => {
  world = openWorld();
  model = world.own(await ClaudeModel.start());
  sol = world.own(await ScriptPeer.spawn({ env: world.env, name: 'Sol' }));
  alpha = world.own(await startClaude('alpha'));
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

test('real Claude lists a scripted peer, sends it a message and is shown the marked answer', async () => {
  alpha.say('@@tool ListAgents {} @@tool SendMessage {"to":"Sol","message":"brief for Sol"} @@say sent');
  const brief = await sol.waitForMessage('brief for Sol');
  expect((await alpha.nextResult()).result).toBe('sent');
  const [list, sent] = model.toolResults(alpha.sessionId);
  expect(list?.text).toMatch(/^ {2}Sol \[[0-9a-f]{6}\] {2}·/m);
  expect(sent?.text).toContain('"success":true');

  const mark = { kind: 'answer', in_reply_to: brief.frame!.msg_id };
  await sol.send({ to: 'alpha', text: 'the answer of Sol', mark });
  const shown = model.textsOf(await model.waitForText('the answer of Sol')).at(-1);
  expect(shown).toContain(
    `<cross-session-message from="${sol.address}" from-name="Sol" from-mode="prompting">`,
  );
  expect((await alpha.nextResult()).origin).toMatchObject({ verifiedPeerPid: sol.pid, verifiedLocal: true });
});

function startClaude(name: string): Promise<ClaudeSession> {
  return ClaudeSession.start({ env: world.env, modelUrl: model.url, name, cwd: world.work });
}
