import { beforeEach, describe, expect, test } from 'vitest';
import type { ReplyAddress } from '../../src/store/record.ts';
import type { IdleNotice } from '../../src/wrapper/inbound.ts';
import type { Outbox } from '../../src/wrapper/outbox.ts';
import { OwnSubscriptions } from '../../src/wrapper/own-subscriptions.ts';

const at = (pid: number, procStart = '1'): ReplyAddress => ({
  socketPath: `/s/${pid}.sock`,
  pid,
  procStart,
  sessionId: null,
});

describe('idle notices that we asked for', () => {
  let ids: string[];
  let heard: string[];
  let own: OwnSubscriptions;

  beforeEach(() => {
    ids = [];
    heard = [];
    const outbox = {
      send: async (_: ReplyAddress, frame: { msg_id: string }) => {
        ids.push(frame.msg_id);
        return 'written';
      },
    } as unknown as Outbox;
    own = new OwnSubscriptions({ socketPath: '/s/1.sock', fromMode: () => 'prompting', outbox });
  });

  const subscribe = (to: ReplyAddress, name: string) =>
    own.subscribe(to, ({ state }) => heard.push(`${name} ${state}`));

  /** What a process says of the subscription of that index. */
  function notice(index: number, state: IdleNotice['state'] = 'idle', { pid, procStart } = at(2)): void {
    const origMsgId = ids[index] ?? 'x';
    const unknown = { finishedAtMs: null, detail: null, from: null, fromMode: null };
    own.notice({ action: 'peer_idle_notice', origMsgId, state, ...unknown }, { pid, procStart, row: null });
  }

  test('are told once', () => {
    subscribe(at(2), 'a');
    notice(0);
    notice(0);
    expect(heard).toEqual(['a idle']);
  });

  test('of a process are for everybody who asked it before: it holds only the newest', () => {
    subscribe(at(2), 'a');
    subscribe(at(2), 'b');
    subscribe(at(2), 'c');
    notice(1, 'exited');
    expect(heard).toEqual(['a exited', 'b exited']);
    notice(2);
    expect(heard).toEqual(['a exited', 'b exited', 'c idle']);
  });

  test.each([
    ['another process', at(3)],
    ['a process that took over its number', at(2, '2')],
  ])('of one process say nothing about %s', (_, other) => {
    subscribe(at(2), 'a');
    subscribe(other, 'b');
    notice(1, 'idle', other);
    expect(heard).toEqual(['b idle']);
  });

  test.each([
    ['another process', at(3)],
    ['a process that took over its number', at(2, '2')],
  ])('that %s sends in its place are nothing', (_, stranger) => {
    subscribe(at(2), 'a');
    notice(0, 'exited', stranger);
    expect(heard).toEqual([]);
    notice(0);
    expect(heard).toEqual(['a idle']);
  });

  test('that nobody asked for are nothing', () => {
    subscribe(at(2), 'a');
    notice(1);
    expect(heard).toEqual([]);
  });
});
