import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { HarnessThread, ToolResult } from '../../src/harness/harness.ts';
import { processStart } from '../../src/os/proc.ts';
import type { Message } from '../../src/store/record.ts';
import type { Outbox } from '../../src/wrapper/outbox.ts';
import type { State } from '../../src/wrapper/state.ts';
import { ToolCalls, type ToolCallsOptions } from '../../src/wrapper/tool-calls.ts';
import { tempFolder, until } from '../os/fixtures.ts';

const LISTEN = "require('net').createServer().listen(process.argv[1], () => console.log('listens'))";
const never = new AbortController().signal;

describe('the tools of a peer', () => {
  let folder: ReturnType<typeof tempFolder>;
  let luna: ChildProcess & { readonly pid: number };
  let written: string[];
  /** Results that the thread's model was given. */
  let given: [callId: string, ToolResult][];
  let calls: ToolCalls;

  beforeEach(async () => {
    folder = tempFolder();
    const messagingSocketPath = join(folder.path, 'luna.sock');
    luna = spawn(process.execPath, ['-e', LISTEN, messagingSocketPath]) as typeof luna;
    await once(luna.stdout!, 'data');
    const row = { pid: luna.pid, procStart: processStart(luna.pid), name: 'Luna', messagingSocketPath };
    writeFileSync(join(folder.path, `${luna.pid}.json`), JSON.stringify(row));
    written = [];
    given = [];
    calls = new ToolCalls(options());
  });

  afterEach(async () => {
    calls.close();
    luna.kill();
    await once(luna, 'exit');
    folder[Symbol.dispose]();
  });

  function options(): ToolCallsOptions {
    const claimed = new Set<string>();
    const write = async (_: unknown, frame: { message?: { content: string } }) => {
      if (frame.message !== undefined) written.push(frame.message.content);
      return { delivery: 'written' };
    };
    return {
      name: 'Sol',
      socketPath: '/s/1.sock',
      hopToken: '0'.repeat(24),
      fromMode: () => 'prompting',
      sessionsDir: folder.path,
      outbox: { write, send: write } as unknown as Outbox,
      log: { write: () => {}, hide: () => {}, close: async () => {} },
      thread: { answerTool: (callId, result) => given.push([callId, result]) > 0 } as HarnessThread,
      state: () => ({ phase: 'serving', isReady: false, claims: [] }) as unknown as State,
      message: () => undefined,
      receive: () => {},
      claimCall: async (callId) => !claimed.has(callId) && claimed.add(callId).size > 0,
    };
  }

  const call = (tool: string, callId: string) => {
    return { callId, turnId: 't', tool, arguments: { to: 'Luna', text: 'well?' } };
  };
  /** A question of Luna's comes, and is recorded or not. */
  const asks = (recording: Promise<void>) => {
    const message = { id: 'question', text: 'and you?' } as Message;
    const from = { pid: luna.pid, procStart: processStart(luna.pid), row: null };
    expect(calls.takes(message, { kind: 'message', ask: true }, from)).toBe(false);
    return calls.receiving(message, recording);
  };

  test('give a result to the model also when another caller used the id of its call', async () => {
    calls.onEvent({ type: 'tool-call', ...call('send_message', 'c1') });
    const result = await calls.fromControl(call('send_message', 'c1'), never);
    expect(result.success).toBe(true);
    expect(given).toEqual([['c1', result]]);
    expect(written).toHaveLength(1);
  });

  test('ask nobody who stands still until our answer', async () => {
    await asks(Promise.resolve());
    const result = await calls.fromControl(call('ask', 'c1'), never);
    expect(result.success).toBe(false);
    expect(written).toEqual([]);
  });

  test('ask whose own question could not be recorded, and go on with a question to it', async () => {
    const earlier = calls.fromControl(call('ask', 'c1'), never);
    await until(() => written.length === 1);
    await expect(asks(Promise.reject(new Error('the disk is full')))).rejects.toThrow('the disk is full');
    void calls.fromControl(call('ask', 'c2'), never);
    await until(() => written.length === 2);
    expect(await Promise.race([earlier, 'still open'])).toBe('still open');
  });

  test('end a question to somebody who asks meanwhile', async () => {
    const earlier = calls.fromControl(call('ask', 'c1'), never);
    await until(() => written.length === 1);
    await asks(Promise.resolve());
    expect((await earlier).text).toContain('Luna');
  });
});
