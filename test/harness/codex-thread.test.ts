import { describe, expect, test } from 'vitest';
import { until } from '../rpc/fake-app-server.ts';
import { FakeCodex, READ_ONLY, THREAD, WORKSPACE } from './fake-codex.ts';

const ACTIVE = { type: 'active', activeFlags: [] };

describe('what a Codex thread tells', () => {
  test('is in the order of the frames, responses included', async () => {
    await using codex = await FakeCodex.start();
    const thread = await codex.open();
    thread.start('peer:1', 'hello');
    await until(() => codex.server.requests('turn/start').length === 1);
    const [request] = codex.server.requests('turn/start');
    expect(request?.params).toMatchObject({ threadId: THREAD, clientUserMessageId: 'peer:1' });
    const item = { type: 'userMessage', id: 'i', clientId: 'peer:1', content: [] };
    codex.server.sendTogether(
      { id: request?.id, result: { turn: { id: 'T1', status: 'inProgress', items: [] } } },
      codex.status(ACTIVE),
      codex.turn('turn/started', 'T1', 'inProgress'),
      { method: 'item/started', params: { threadId: THREAD, turnId: 'T1', item } },
      codex.status({ type: 'systemError' }),
      codex.turn('turn/completed', 'T1', 'failed'),
    );
    await codex.heard('turn-ended');
    expect(codex.events.slice(1)).toEqual([
      { type: 'start-accepted', clientId: 'peer:1', turnId: 'T1' },
      { type: 'status', status: { type: 'active', waitingFor: null } },
      { type: 'turn-started', turnId: 'T1' },
      { type: 'user-item', turnId: 'T1', clientId: 'peer:1' },
      { type: 'status', status: { type: 'idle' } },
      { type: 'turn-ended', turnId: 'T1', status: 'failed' },
    ]);
  });

  test('has the notified status, not that of a response which was under way meanwhile', async () => {
    await using codex = await FakeCodex.start();
    codex.server.on('thread/resume', (_params, server) => {
      server.send(codex.status(ACTIVE));
      return codex.response();
    });
    await codex.open();
    expect(codex.events.at(-1)).toMatchObject({ type: 'ready', status: { type: 'active' } });
  });

  test('is not believed when a turn reads as interrupted between the idle status and its own end', async () => {
    await using codex = await FakeCodex.start();
    codex.thread.turns = [{ id: 'T1', status: 'interrupted', completedAt: null }];
    codex.server.on('thread/items/list', () => ({ data: [], nextCursor: null }));
    const thread = await codex.open();
    const status = async () => (await thread.readTurns(null))[0]?.status;
    expect(await status()).toBe('interrupted');
    codex.server.sendTogether(codex.status(ACTIVE), codex.status({ type: 'systemError' }));
    await codex.heard('status', 2);
    expect(await status()).toBe('inProgress');
    codex.thread.turns = [{ id: 'T1', status: 'failed', completedAt: 1_796_072_160 }];
    expect(await status()).toBe('failed');
  });

  test('leaves out what is broadcast about other threads', async () => {
    await using codex = await FakeCodex.start();
    await codex.open();
    codex.server.send(
      codex.status(ACTIVE, 'other'),
      codex.turn('turn/started', 'X', 'inProgress', 'other'),
      { method: 'thread/archived', params: { threadId: 'other' } },
      codex.status(ACTIVE),
    );
    await codex.heard('status');
    expect(codex.types).toEqual(['ready', 'status']);
  });

  test('survives a notification it cannot read', async () => {
    await using codex = await FakeCodex.start();
    await codex.open();
    codex.server.notify('turn/completed', { threadId: THREAD, turn: 7 });
    codex.server.send(codex.status({ type: 'active', activeFlags: ['waitingOnApproval'] }));
    await codex.heard('status');
    expect(codex.events.at(-1)).toEqual({
      type: 'status',
      status: { type: 'active', waitingFor: 'permission prompt' },
    });
    expect(codex.logged).toContain('notification-unreadable');
  });

  test.each([
    ['draining', { code: -32600, message: 'Server is draining', data: { reason: 'serverShuttingDown' } }],
    [
      'not-steerable',
      { code: -32603, message: 'failed to submit turn input: ActiveTurnNotSteerable { turn_kind: Compact }' },
    ],
    ['never', { code: -32602, message: 'too long', data: { input_error_code: 'input_too_large' } }],
    ['not-ready', { code: -32600, message: `thread not found: ${THREAD}` }],
  ])('is %s for a refused start', async (refusal, error) => {
    await using codex = await FakeCodex.start();
    codex.server.on('turn/start', () => {
      throw error;
    });
    const thread = await codex.open();
    thread.start('peer:1', 'hello');
    await codex.heard('start-refused');
    expect(codex.events[1]).toEqual({
      type: 'start-refused',
      clientId: 'peer:1',
      refusal,
      message: error.message,
    });
    if (refusal === 'not-ready') await codex.heard('ready', 2);
    if (refusal === 'draining') expect(codex.events[2]).toMatchObject({ waitingFor: 'daemon restart' });
  });

  test('is a refusal, a moment later, for a start while it is not ready', async () => {
    await using codex = await FakeCodex.start();
    const thread = await codex.open();
    await codex.server.stop();
    await codex.heard('disconnected');
    const before = codex.events.length;
    thread.start('peer:1', 'hello');
    expect(codex.events).toHaveLength(before);
    await codex.heard('start-refused');
    expect(codex.events.at(-1)).toMatchObject({ refusal: 'not-ready' });
  });
});

describe('a lost connection', () => {
  test('is told, made good and followed by a resume, a read-back and ready', async () => {
    await using codex = await FakeCodex.start();
    await codex.open();
    codex.thread.turns = [{ id: 'T2', status: 'inProgress' }];
    codex.thread.status = ACTIVE;
    codex.server.drop();
    await codex.heard('ready', 2);
    expect(codex.types).toEqual(['ready', 'disconnected', 'ready']);
    expect(codex.events[2]).toMatchObject({
      status: { type: 'active' },
      newestTurn: { id: 'T2', status: 'inProgress' },
      startedByUs: false,
    });
    expect(codex.server.connections).toBe(2);
  });

  test('while a message is being given ends in neither accepted nor refused', async () => {
    await using codex = await FakeCodex.start();
    const thread = await codex.open();
    thread.start('peer:1', 'hello');
    await until(() => codex.server.requests('turn/start').length === 1);
    codex.server.drop();
    await codex.heard('ready', 2);
    expect(codex.types).toEqual(['ready', 'disconnected', 'ready']);
  });

  test('during the resume of the next one makes no second loop', async () => {
    await using codex = await FakeCodex.start();
    await codex.open();
    let drops = 3;
    codex.server.on('thread/resume', (_params, server) => {
      if (drops === 0) return codex.response();
      drops -= 1;
      server.drop();
      return undefined;
    });
    codex.server.drop();
    await codex.heard('ready', 2);
    codex.server.send(codex.status(ACTIVE));
    await codex.heard('status');
    expect(codex.types).toEqual(['ready', 'disconnected', 'ready', 'status']);
    expect(codex.server.connections).toBe(5);
  });

  test('does not bring back a peer whose rights were widened meanwhile', async () => {
    await using codex = await FakeCodex.start();
    await codex.open();
    codex.thread.approvalPolicy = 'on-request';
    codex.server.drop();
    await codex.heard('waiting');
    expect(codex.types).toEqual(['ready', 'disconnected', 'waiting']);
    expect(codex.events[2]).toMatchObject({
      waitingFor: expect.stringContaining('No message is given to Sol'),
    });
  });
});

describe('a thread that changes under us', () => {
  test('is loaded again when it was unloaded', async () => {
    await using codex = await FakeCodex.start();
    await codex.open();
    codex.server.send(codex.status({ type: 'notLoaded' }), {
      method: 'thread/closed',
      params: { threadId: THREAD },
    });
    await codex.heard('ready', 2);
    expect(codex.server.requests('thread/resume')).toHaveLength(2);
  });

  test.each(['thread/archived', 'thread/deleted'])('is gone after %s, and never resumed', async (method) => {
    await using codex = await FakeCodex.start();
    await codex.open();
    codex.server.send(codex.status({ type: 'notLoaded' }), { method, params: { threadId: THREAD } });
    await codex.heard('gone');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(codex.types).toEqual(['ready', 'waiting', 'gone']);
    expect(codex.server.requests('thread/resume')).toHaveLength(1);
  });

  test('is gone when it was archived while the daemon was away', async () => {
    await using codex = await FakeCodex.start();
    await codex.open();
    codex.server.on('thread/resume', () => {
      throw { code: -32600, message: `session ${THREAD} is archived.` };
    });
    codex.server.drop();
    await codex.heard('gone');
    expect(codex.events.at(-1)).toMatchObject({ cause: 'its thread was archived in Codex' });
  });

  test('tells a revert, then is read from the start', async () => {
    await using codex = await FakeCodex.start();
    await codex.open();
    codex.server.send(codex.status({ type: 'notLoaded' }), codex.status({ type: 'idle' }), {
      method: 'thread/reverted',
      params: { threadId: THREAD },
    });
    await codex.heard('ready', 2);
    expect(codex.types).toEqual(['ready', 'waiting', 'status', 'reverted', 'disconnected', 'ready']);
  });

  const settings = (sandboxPolicy: object) => ({
    method: 'thread/settings/updated',
    params: {
      threadId: THREAD,
      threadSettings: { model: 'm', effort: null, approvalPolicy: 'never', sandboxPolicy, cwd: '/w' },
    },
  });

  test('takes no messages while the person at the pane gives it wider rights', async () => {
    await using codex = await FakeCodex.start();
    const thread = await codex.open({ headless: false });
    codex.server.send(settings(WORKSPACE));
    await codex.heard('waiting');
    thread.start('peer:1', 'hello');
    await codex.heard('start-refused');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(codex.types).not.toContain('disconnected');
    expect(codex.server.requests('thread/settings/update')).toEqual([]);
    codex.server.send(settings(READ_ONLY));
    await codex.heard('ready', 2);
    expect(codex.types).toEqual([
      ...['ready', 'settings', 'waiting', 'start-refused', 'settings', 'waiting', 'disconnected', 'ready'],
    ]);
  });

  test('takes no messages before a turn that had wider rights has ended', async () => {
    await using codex = await FakeCodex.start();
    await codex.open({ headless: false });
    codex.server.send(settings(WORKSPACE), codex.status(ACTIVE), settings(READ_ONLY));
    codex.thread.status = ACTIVE;
    const outlasted = () =>
      codex.events.filter(
        (event) => event.type === 'waiting' && event.waitingFor === 'the end of a turn with wider rights',
      ).length;
    await until(() => outlasted() === 1);
    codex.server.drop();
    await until(() => outlasted() === 2);
    codex.server.send(codex.status({ type: 'idle' }));
    await codex.heard('ready', 2);
    expect(codex.types.slice(-2)).toEqual(['status', 'ready']);
  });

  test('is repaired when its rights are widened without a pane', async () => {
    await using codex = await FakeCodex.start();
    codex.server.on('thread/settings/update', ({ sandboxPolicy }) => {
      codex.thread.sandbox = sandboxPolicy as object;
      return {};
    });
    await codex.open();
    codex.thread.sandbox = WORKSPACE;
    codex.server.send(settings(WORKSPACE));
    await codex.heard('ready', 2);
    expect(codex.thread.sandbox).toEqual(READ_ONLY);
  });
});

describe('closing', () => {
  test('unsubscribes, is idempotent, and nothing is told after it', async () => {
    await using codex = await FakeCodex.start();
    const thread = await codex.open();
    await Promise.all([thread.close(), thread.close()]);
    expect(codex.server.requests('thread/unsubscribe')).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(codex.types).toEqual(['ready']);
    expect(codex.server.connections).toBe(1);
  });

  test('ends a reconnect that is under way', async () => {
    await using codex = await FakeCodex.start();
    const thread = await codex.open();
    await codex.server.stop();
    await codex.heard('disconnected');
    await thread.close();
    const { connections } = codex.server;
    await codex.server.listen();
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(codex.server.connections).toBe(connections);
  });

  test('does not wait for a daemon that says nothing', async () => {
    await using codex = await FakeCodex.start();
    codex.server.on('thread/unsubscribe', () => undefined);
    const thread = await codex.open();
    const begin = Date.now();
    await thread.close();
    expect(Date.now() - begin).toBeLessThan(1_500);
  });
});
