import { expect, test } from 'vitest';
import type { Io } from '../../src/cli/io.ts';
import { open } from '../../src/cli/open.ts';
import { runPeer } from '../real/peer-process.ts';
import { openWorld } from '../real/temp.ts';
import { HAS_STACK } from './sentences.ts';

test.each([
  [['open', '-x'], 2, /unknown option/],
  [['open', '#(touch x)'], 2, /cannot be a peer's name/],
  [['open', 'Sol', '--detach'], 2, /--detach goes with --headless/],
  [['open', 'Sol', '--headless', '--detach', '--window'], 2, /exclude each other/],
  [['open', 'Sol', '--new', '--thread', '0b9c7a52-1111-4222-8333-944455566677'], 2, /give one of them/],
  [['open', 'Sol', '--thread', 'latest'], 2, /a UUID, not "latest"/],
  [['open', 'Sol', '--cwd', '/no/such/folder'], 2, /there is no folder \/no\/such\/folder/],
  [['open', 'Sol', '--sandbox', 'none'], 2, /Allowed choices are read-only/],
  [['open', 'Sol', '--approval', 'maybe'], 2, /Allowed choices are never/],
  [
    ['open', 'Sol', '--headless', '--trust'],
    4,
    /--trust is for a person at a terminal, and this is not a terminal/,
  ],
  [
    ['open', 'Sol', '--headless', '--sandbox', 'danger-full-access'],
    4,
    /--sandbox danger-full-access is for a person at a terminal/,
  ],
  [['open', 'Sol', '--window'], 8, /not inside tmux/],
])('%j is refused in a sentence', async (args, exitCode, words) => {
  await using world = openWorld();
  const { code, stdout, stderr } = await runPeer(args, { env: world.env });
  expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' });
  expect(stderr).toMatch(/^peer: /);
  expect(stderr).toMatch(words);
  expect(stderr).not.toMatch(HAS_STACK);
});

test.each([{ CLAUDECODE: '1' }, { CODEX_THREAD_ID: 'x' }, { AI_AGENT: 'x' }])(
  'in the shell of an agent (%j) a terminal does not make a person',
  async (env) => {
    const io = { env, stdin: { isTTY: true } } as unknown as Io;
    const flags = { sandbox: 'read-only', approval: 'never' } as const;
    const message = 'this is the shell of an agent';
    await expect(open('Sol', { ...flags, trust: true }, io)).rejects.toThrow(message);
    await expect(open('Sol', { ...flags, sandbox: 'danger-full-access' }, io)).rejects.toThrow(message);
  },
);

test('without Codex a headless peer says so, in front or detached, exit 8', async () => {
  await using world = openWorld();
  const env = { ...world.env, PATH: '/usr/bin:/bin' };
  for (const args of [
    ['open', 'Sol', '--headless'],
    ['open', 'Sol', '--headless', '--detach'],
  ]) {
    const { code, stdout, stderr } = await runPeer(args, { env });
    expect({ code, stdout }).toEqual({ code: 8, stdout: '' });
    expect(stderr).toMatch(/^peer: .*[Cc]odex/);
    expect(stderr).not.toMatch(/peer: peer:/);
    expect(stderr).not.toMatch(HAS_STACK);
  }
  expect((await runPeer(['list', '--json'], { env })).stdout).toBe('[]\n');
});
