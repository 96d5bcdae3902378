import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPeer } from '../real/peer-process.ts';
import { ScriptPeer } from '../real/script-peer.ts';
import { openWorld } from '../real/temp.ts';
import { HAS_STACK, HAS_TERMINAL_CONTROLS } from './sentences.ts';

test('no folder, no peers: a sentence that says how to get one, exit 0', async () => {
  await using world = openWorld();
  const { code, stdout, stderr } = await runPeer(['list'], { env: world.env });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toMatch(/^peer: nobody is here/);
  expect((await runPeer(['list', '--json'], { env: world.env })).stdout).toBe('[]\n');
});

test('--json has exactly these keys, for a Codex peer and a Claude Code session', async () => {
  await using world = openWorld();
  const wrapped = {
    bridge: 'peerwire',
    cwd: '/srv/app',
    model: 'gpt-9',
    status: 'waiting',
    waitingFor: 'permission prompt',
    tmux: 'main:@1.%1',
    tools: 'dynamic',
  };
  const sol = world.own(await ScriptPeer.spawn({ env: world.env, name: 'Sol', row: wrapped }));
  const claude = { cwd: '/srv', status: 'idle', tmux: null };
  const alpha = world.own(await ScriptPeer.spawn({ env: world.env, name: 'alpha', row: claude }));
  const { stdout, code } = await runPeer(['list', '--json'], { env: world.env });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual([
    {
      name: 'alpha',
      harness: 'claude',
      status: 'idle',
      waitingFor: null,
      cwd: '/srv',
      model: null,
      place: null,
      pid: alpha.pid,
      tools: null,
      noStore: null,
      reachable: true,
    },
    {
      name: 'Sol',
      harness: 'codex',
      status: 'waiting',
      waitingFor: 'permission prompt',
      cwd: '/srv/app',
      model: 'gpt-9',
      place: 'main:@1.%1',
      pid: sol.pid,
      tools: 'dynamic',
      noStore: null,
      reachable: true,
    },
  ]);
});

test('a table stays within 80 columns and keeps the end of a long cwd', async () => {
  await using world = openWorld();
  const row = {
    bridge: 'peerwire',
    cwd: `/srv/${'deep/'.repeat(30)}the-project`,
    model: 'gpt-5.1-codex-max-preview',
    status: 'waiting',
    waitingFor: 'permission prompt',
    tmux: 'a-long-session-name:@11.%12',
  };
  world.own(await ScriptPeer.spawn({ env: world.env, name: 'A reviewer with quite a long name', row }));
  world.own(
    await ScriptPeer.spawn({ env: world.env, name: '東京の会話', row: { cwd: `${world.home}/app` } }),
  );
  const { stdout } = await runPeer(['list'], { env: world.env });
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  expect(lines[1]).toMatch(/…\S*the-project$/);
  expect(lines[2]).toMatch(/~\/app$/);
});

test('a hostile name, cwd and status reach the terminal as visible text and start nothing', async () => {
  await using world = openWorld();
  const name = '#(touch x)\u001b]0;owned\u0007"\n\u202egnp';
  const row = { cwd: '/srv/\u001b[2J', status: '\u001b[31mred', model: '$(touch x)' };
  world.own(await ScriptPeer.spawn({ env: world.env, name, row }));
  const { stdout } = await runPeer(['list'], { env: world.env, cwd: world.work });
  expect(stdout).not.toMatch(HAS_TERMINAL_CONTROLS);
  expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  expect(stdout).toContain('#(touch x)');
  expect(readdirSync(world.work)).toEqual(['.git']);
  const json = JSON.parse((await runPeer(['list', '--json'], { env: world.env })).stdout);
  expect(json).toMatchObject([{ name, cwd: '/srv/\u001b[2J' }]);
});

test('a peer without a store is said to have none, and why', async () => {
  await using world = openWorld();
  const row = { bridge: 'peerwire', noStore: 'the disk is full' };
  world.own(await ScriptPeer.spawn({ env: world.env, name: 'Sol', row }));
  const { stderr } = await runPeer(['list'], { env: world.env });
  expect(stderr).toBe('peer: Sol has no store (the disk is full): a crash loses what it has received.\n');
  const json = JSON.parse((await runPeer(['list', '--json'], { env: world.env })).stdout);
  expect(json).toMatchObject([{ noStore: 'the disk is full' }]);
});

test('what a row says of its store stays on one line and is made visible', async () => {
  await using world = openWorld();
  const row = { bridge: 'peerwire', noStore: 'full)\npeer: all is well\t\u001b[2J' };
  world.own(await ScriptPeer.spawn({ env: world.env, name: 'Sol\npeer: hello', row }));
  const { stderr } = await runPeer(['list'], { env: world.env });
  expect(stderr).toMatch(/^peer: Sol.*has no store \(full.*\n$/);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(stderr).not.toMatch(HAS_TERMINAL_CONTROLS);
});

test('a torn row, a row that is no JSON object and a dead session are left out', async () => {
  await using world = openWorld();
  world.own(await ScriptPeer.spawn({ env: world.env, name: 'alpha' }));
  const sessions = join(world.claudeDir, 'sessions');
  writeFileSync(join(sessions, '1.json'), '{"pid":1,"na');
  writeFileSync(join(sessions, '2.json'), 'null');
  writeFileSync(
    join(sessions, '999999.json'),
    '{"pid":999999,"name":"ghost","messagingSocketPath":"/nowhere"}',
  );
  const { stdout, stderr, code } = await runPeer(['list', '--json'], { env: world.env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'alpha' }]);
});

test('a folder that cannot be read is a sentence and exit 8', async () => {
  await using world = openWorld();
  writeFileSync(join(world.claudeDir, 'sessions'), 'a file in its place');
  for (const args of [['list'], ['send', 'Sol', 'hi'], ['ask', 'Sol', 'hi'], ['close', 'Sol']]) {
    const { stdout, stderr, code } = await runPeer(args, { env: world.env });
    expect({ stdout, code }).toEqual({ stdout: '', code: 8 });
    expect(stderr).toMatch(/^peer: The folder .* cannot be read/);
    expect(stderr).not.toMatch(HAS_STACK);
  }
});

test('rows of our own dead wrappers are removed with key and socket, those of others stay', async () => {
  await using world = openWorld();
  const sessions = join(world.claudeDir, 'sessions');
  const sockets = join(world.runtimeDir, 'cc-socks');
  const ours = world.own(
    await ScriptPeer.spawn({ env: world.env, name: 'Sol', row: { bridge: 'peerwire' } }),
  );
  const claude = world.own(await ScriptPeer.spawn({ env: world.env, name: 'alpha' }));
  await ours.kill();
  await claude.kill();
  expect((await runPeer(['list', '--json'], { env: world.env })).stdout).toBe('[]\n');
  expect(existsSync(join(sessions, `${ours.pid}.json`))).toBe(false);
  expect(existsSync(ours.socketPath)).toBe(false);
  expect(readdirSync(sessions).filter((file) => file.startsWith(`${claude.pid}.`))).toHaveLength(2);
  expect(readdirSync(sockets)).toEqual([`${claude.pid}.sock`]);
});

test('a peer that is still opening is shown as opening', async () => {
  await using world = openWorld();
  const row = { bridge: 'peerwire', state: 'opening', messagingSocketPath: null };
  const sol = world.own(await ScriptPeer.spawn({ env: world.env, name: 'Sol', row }));
  await sol.update({ state: 'opening', messagingSocketPath: null });
  const { stdout } = await runPeer(['list', '--json'], { env: world.env });
  expect(JSON.parse(stdout)).toMatchObject([{ name: 'Sol', status: 'opening', reachable: false }]);
  expect((await runPeer(['list'], { env: world.env })).stdout).toMatch(/Sol +codex +opening/);
});

test('a stopped session is shown as unreachable', async () => {
  await using world = openWorld();
  const alpha = world.own(await ScriptPeer.spawn({ env: world.env, name: 'alpha', row: { status: 'idle' } }));
  process.kill(alpha.pid, 'SIGSTOP');
  const { stdout } = await runPeer(['list'], { env: world.env });
  process.kill(alpha.pid, 'SIGCONT');
  expect(stdout).toMatch(/alpha +claude +unreachable/);
});

test('a session that takes no messages is not listed', async () => {
  await using world = openWorld();
  const old = world.own(await ScriptPeer.spawn({ env: world.env, name: 'old' }));
  await old.update({ messagingSocketPath: null });
  expect((await runPeer(['list', '--json'], { env: world.env })).stdout).toBe('[]\n');
});
