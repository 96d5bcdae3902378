import { describe, expect, test } from 'vitest';
import { FakeCodex, THREAD, WORKSPACE } from './fake-codex.ts';

describe('opening a Codex thread', () => {
  test('starts a new one with its tools, names it, and is ready', async () => {
    await using codex = await FakeCodex.start();
    const dynamicTools = [{ type: 'function', name: 'ask' }];
    const thread = await codex.open({
      thread: { kind: 'start', cwd: '/w' },
      asked: { sandbox: 'read-only', approval: 'never', model: 'm', effort: 'high' },
      dynamicTools,
    });
    expect(thread.id).toBe(THREAD);
    expect(codex.server.requests('thread/start')[0]?.params).toEqual({
      cwd: '/w',
      sandbox: 'read-only',
      approvalPolicy: 'never',
      model: 'm',
      config: { model_reasoning_effort: 'high' },
      dynamicTools,
      threadSource: 'user',
    });
    expect(codex.server.requests('thread/name/set')[0]?.params).toEqual({ threadId: THREAD, name: 'Sol' });
    expect(codex.events[0]).toMatchObject({ type: 'ready', newestTurn: null, startedByUs: false });
  });

  test('resumes a known one without its turns, and without a folder unless one was asked for', async () => {
    await using codex = await FakeCodex.start();
    codex.thread.turns = [{ id: 'T1', status: 'interrupted' }];
    const thread = await codex.open();
    expect(codex.server.requests('thread/resume')[0]?.params).toEqual({
      threadId: THREAD,
      excludeTurns: true,
      sandbox: 'read-only',
      approvalPolicy: 'never',
    });
    expect(codex.events[0]).toMatchObject({
      type: 'ready',
      newestTurn: { id: 'T1', status: 'interrupted' },
      settings: { sandbox: 'read-only', approval: 'never', cwd: '/w', model: 'm' },
    });
    expect(thread.version).toBe('0.171.0');
  });

  test('tells the command line that attaches a terminal', async () => {
    await using codex = await FakeCodex.start();
    const { pane } = await codex.open();
    expect(pane.file).toBe('/opt/codex');
    expect(pane.cwd).toBe('/w');
    expect(pane.args).toEqual([
      ...['--remote', `unix://${codex.server.socketPath}`, '-C', '/w'],
      ...['-c', 'check_for_update_on_startup=false', '-c', 'tui.resume_cwd="session"', 'resume', THREAD],
    ]);
  });

  test('repairs rights that are too wide and reads them back', async () => {
    await using codex = await FakeCodex.start();
    codex.thread.sandbox = WORKSPACE;
    codex.server.on('thread/settings/update', ({ sandboxPolicy }) => {
      codex.thread.sandbox = sandboxPolicy as object;
      return {};
    });
    await codex.open();
    expect(codex.server.requests('thread/settings/update')[0]?.params).toEqual({
      threadId: THREAD,
      sandboxPolicy: { type: 'readOnly', networkAccess: false },
    });
    expect(codex.server.requests('thread/resume')).toHaveLength(2);
    expect(codex.types).toEqual(['ready']);
  });

  test('loads an idle thread anew when an update does not help', async () => {
    await using codex = await FakeCodex.start();
    codex.thread.approvalPolicy = 'on-request';
    codex.server.on('thread/unsubscribe', () => {
      codex.thread.approvalPolicy = 'never';
      return { status: 'unsubscribed' };
    });
    await codex.open();
    expect(codex.server.requests('thread/resume')).toHaveLength(3);
    expect(codex.types).toEqual(['ready']);
  });

  test('is refused while the thread may do more than asked', async () => {
    await using codex = await FakeCodex.start();
    codex.thread.sandbox = WORKSPACE;
    codex.thread.status = { type: 'active', activeFlags: [] };
    await expect(codex.open()).rejects.toMatchObject({
      word: 'rights-too-wide',
      message: expect.stringContaining('its sandbox is workspace-write and read-only was asked for'),
    });
    expect(codex.server.requests('thread/unsubscribe')).toEqual([]);
    expect(codex.events).toEqual([]);
  });

  test.each([
    ['session X is archived. Run `codex unarchive X`', 'codex unarchive'],
    ['no rollout found for thread id X', 'peer open Sol --new'],
    ['thread X already has an active writer', 'does not use the daemon'],
  ])('says what to do when Codex answers "%s"', async (message, advice) => {
    await using codex = await FakeCodex.start();
    codex.server.on('thread/resume', () => {
      throw { code: -32600, message };
    });
    await expect(codex.open()).rejects.toMatchObject({
      word: 'thread-unavailable',
      message: expect.stringContaining(advice),
    });
  });

  test('starts an absent daemon once and says so to whoever waits for recovered turns', async () => {
    await using codex = await FakeCodex.start();
    await codex.server.stop();
    let starts = 0;
    await codex.open({
      startDaemon: async () => {
        starts += 1;
        await codex.server.listen();
        return { status: 'started' };
      },
    });
    expect(starts).toBe(1);
    expect(codex.events[0]).toMatchObject({ type: 'ready', startedByUs: true });
  });

  test('ends at once when its signal is aborted', async () => {
    await using codex = await FakeCodex.start();
    codex.server.on('thread/resume', () => undefined);
    const ending = new AbortController();
    setTimeout(() => ending.abort(), 50);
    await expect(codex.open({ signal: ending.signal })).rejects.toThrow();
  });
});
