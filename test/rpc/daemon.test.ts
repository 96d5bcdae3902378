import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { daemonEnv, startDaemon } from '../../src/rpc/daemon.ts';

describe('starting the daemon', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'peer-daemon-'));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  function fakeCodex(body: string): string {
    const file = join(home, 'codex');
    writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return file;
  }

  test('reads the JSON on stdout and leaves the telemetry on stderr alone', async () => {
    const codex = fakeCodex(`echo '{"stage":"process_spawn"}' >&2
      echo "{\\"status\\":\\"started\\",\\"appServerVersion\\":\\"0.171.0\\",\\"cwd\\":\\"$PWD\\",\\"args\\":\\"$*\\"}"`);
    const report = await startDaemon(codex, { HOME: home, PATH: process.env.PATH });
    expect(report).toMatchObject({
      status: 'started',
      appServerVersion: '0.171.0',
      args: 'app-server daemon start',
    });
    expect(report.cwd).toBe(home);
  });

  test('gives it nothing of one agent or one terminal', () => {
    const kept = { HOME: '/h', PATH: '/bin', CODEX_HOME: '/c', HTTPS_PROXY: 'p' };
    const ours = {
      CLAUDECODE: '1',
      CLAUDE_CONFIG_DIR: '/x',
      AI_AGENT: 'a',
      CODEX_THREAD_ID: 't',
      CODEX_SESSION_ID: 's',
      CODEX_TOOL_CALL_ID: 'c',
      TMUX: 't',
      TMUX_PANE: '%1',
      STY: 's',
    };
    expect(daemonEnv({ ...kept, ...ours })).toEqual(kept);
  });

  test('says in Codex’s own words why it cannot be started', async () => {
    const codex = fakeCodex(`echo '{"stage":"x"}' >&2; echo 'Error: the disk is full' >&2; exit 1`);
    await expect(startDaemon(codex, { HOME: home })).rejects.toMatchObject({
      word: 'daemon-unreachable',
      message: expect.stringContaining('cannot be started: the disk is full.'),
    });
  });

  test('says the last line that is no telemetry when Codex names no error', async () => {
    const codex = fakeCodex(`echo 'panicked at x' >&2; echo '{"stage":"x"}' >&2; exit 101`);
    await expect(startDaemon(codex, { HOME: home })).rejects.toMatchObject({
      message: expect.stringContaining('cannot be started: panicked at x.'),
    });
  });

  test('says what to install when there is no codex', async () => {
    for (const codex of [null, join(home, 'gone')]) {
      await expect(startDaemon(codex, { HOME: home })).rejects.toMatchObject({
        word: 'codex-not-found',
        message: expect.stringContaining('npm install -g @openai/codex'),
      });
    }
  });
});
