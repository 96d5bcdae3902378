import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { runPeer } from '../real/peer-process.ts';
import { openWorld } from '../real/temp.ts';
import { HAS_STACK, HAS_TERMINAL_CONTROLS } from './sentences.ts';

const COMMANDS = ['list', 'send', 'ask', 'open', 'close', 'mcp', 'demo', 'version'];

test.each(COMMANDS)('help of %s has two real examples and exits 0', async (command) => {
  await using world = openWorld();
  const { code, stdout, stderr } = await runPeer([command, '--help'], { env: world.env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const examples = stdout.split('\nExamples:\n')[1]?.trimEnd().split('\n') ?? [];
  expect(examples).toHaveLength(2);
  for (const example of examples) expect(example).toContain(`peer ${command}`);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test('version names this package', async () => {
  await using world = openWorld();
  const { code, stdout } = await runPeer(['version'], { env: world.env });
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `peer ${packageJson.version}\nnode ${process.versions.node}\n`,
  });
});

test.each([
  [[], /^Usage: peer/],
  [['lst'], /^peer: unknown command 'lst'\n\(Did you mean list\?\)\n$/],
  [['list', '--jsn'], /^peer: unknown option '--jsn'\n\(Did you mean --json\?\)\n$/],
  [['ask'], /^peer: missing required argument 'name'\n$/],
  [
    ['ask', 'Sol', 'hi', '--priority', 'soon'],
    /^peer: option '--priority <when>' argument 'soon' is invalid/,
  ],
  [['\u001b[2J'], /^peer: unknown command '\\u\{1b\}\[2J'/],
])('a wrong command line %j is one sentence and exit 2', async (args, words) => {
  await using world = openWorld();
  const { code, stdout, stderr } = await runPeer(args, { env: world.env });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(words);
  expect(stderr).not.toMatch(HAS_STACK);
  expect(stderr).not.toMatch(HAS_TERMINAL_CONTROLS);
});

test('only --debug shows where an error came from', async () => {
  await using world = openWorld();
  const plain = await runPeer(['ask', 'Sol', 'hi'], { env: world.env });
  const debug = await runPeer(['ask', 'Sol', 'hi', '--debug'], { env: world.env });
  expect([plain.code, debug.code]).toEqual([3, 3]);
  expect(plain.stderr).not.toMatch(HAS_STACK);
  expect(debug.stderr).toMatch(HAS_STACK);
});
