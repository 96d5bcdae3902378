import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { noteTools, toolsOf } from '../../src/wrapper/thread-tools.ts';

test('a thread has the tools that were noted at its start, another one has none', () => {
  const dir = mkdtempSync(join(tmpdir(), 'pw-tools-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const env = { XDG_STATE_HOME: dir };
  const id = '01a22e20-0000-7000-8000-000000000001';
  expect(toolsOf(env, id)).toBe('none');
  noteTools(env, id);
  expect(toolsOf(env, id)).toBe('dynamic');
  expect(toolsOf(env, '01a22e20-0000-7000-8000-000000000002')).toBe('none');
  expect(statSync(join(dir, 'peer', 'threads', id)).mode & 0o777).toBe(0o600);
});
