import { expect, test } from 'vitest';
import { isAgentShell, senderName } from '../../src/cli/sender.ts';
import type { Row } from '../../src/registry/row.ts';

const rows: Row[] = [
  { pid: 7, name: 'alpha', sessionId: 'session-1' },
  { pid: 8, name: 'Sol', sessionId: 'thread-1', bridge: 'peerwire' },
];

test('a person or a script goes by the pid of the command', () => {
  expect(senderName({ HOME: '/root' }, rows, 4242)).toBe('cli-4242');
  expect(isAgentShell({ HOME: '/root' })).toBe(false);
});

test("in Codex's shell it is a command of the peer whose thread it is, or of the thread", () => {
  expect(senderName({ CODEX_THREAD_ID: 'thread-1' }, rows, 1)).toBe('command of Sol');
  expect(senderName({ CODEX_THREAD_ID: '0b9c7a52-1111' }, rows, 1)).toBe('command of Codex thread 0b9c7a52');
});

test("in Claude Code's shell it is a command of the session, found by its pid before its id", () => {
  const env = { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: 'session-before-clear' };
  expect(senderName({ ...env, CLAUDE_PID: '7' }, rows, 1)).toBe('command of alpha');
  expect(senderName({ ...env, CLAUDE_CODE_SESSION_ID: 'session-1' }, rows, 1)).toBe('command of alpha');
  expect(senderName(env, rows, 1)).toBe('command of Claude session session-');
  expect(senderName({ CLAUDECODE: '1' }, [{ pid: 9, name: 'no id' }], 1)).toBe('command of Claude session');
});

test('another agent goes by what it says of itself', () => {
  expect(senderName({ AI_AGENT: 'aider_0-9' }, rows, 1)).toBe('command of aider_0-9');
  expect(isAgentShell({ AI_AGENT: 'aider_0-9' })).toBe(true);
});

test('the name is one line without quotes of at most 64 characters, whatever the session is called', () => {
  const hostile = { pid: 7, name: `"<x>\n\u001b[2J\u202e${'long '.repeat(30)}`, sessionId: 's' };
  const name = senderName({ CLAUDECODE: '1', CLAUDE_PID: '7' }, [hostile], 1);
  expect(name).toMatch(/^command of x\[2Jlong /);
  expect(name).not.toMatch(/["<>\p{C}]/u);
  expect(name.length).toBeLessThanOrEqual(64);
});
