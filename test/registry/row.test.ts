import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BRIDGE, isListed, isOpening, parseRow, whereIs } from '../../src/registry/row.ts';

/** As Claude Code 2.1.332 writes one. */
const CLAUDE_ROW =
  '{"pid":4242,"sessionId":"0b9c7a52-1111-4222-8333-944455566677","cwd":"/srv/app","startedAt":1796061254021,' +
  '"procStart":"50472","version":"2.1.332","peerProtocol":1,"peerFeatures":["notify_idle","reply_across_default_dirs",' +
  '"artifact_yield"],"kind":"interactive","entrypoint":"cli","pidDomain":"linux:x:pid:[4026531836]",' +
  '"asksForConvertedSkills":null,"tmux":"main:@1.%1","messagingSocketPath":"/run/user/1000/cc-socks/4242.sock",' +
  '"name":"alpha","nameSource":"user","nameSince":1796061254038,"updatedAt":1796061254633,"status":"idle",' +
  '"statusUpdatedAt":1796061254633}';

it('reads every field Claude Code writes and keeps those we do not know', () => {
  expect(parseRow(CLAUDE_ROW, 4242)).toEqual(JSON.parse(CLAUDE_ROW));
  expect(parseRow(CLAUDE_ROW)).toEqual(JSON.parse(CLAUDE_ROW));
});

it('takes the pid of the file, which is the one that counts', () => {
  expect(parseRow('{"pid":7,"name":"a"}', 42)?.pid).toBe(42);
  expect(parseRow('{"name":"a"}', 42)?.pid).toBe(42);
  expect(parseRow('{"name":"a"}')).toBeNull();
});

it('calls a session without a name as Claude does', () => {
  expect(parseRow('{"cwd":"/srv/app"}', 1)?.name).toBe('app');
  expect(parseRow('{"name":"","cwd":"/"}', 1)?.name).toBe('?');
  expect(parseRow('{}', 1)?.name).toBe('?');
});

it('leaves out a field of another shape and keeps the peer', () => {
  const row = parseRow(
    '{"name":"a","status":7,"tmux":["x"],"peerFeatures":"all","startedAt":"now","pid":-1}',
    1,
  );
  expect(row).toMatchObject({ pid: 1, name: 'a' });
  expect([row?.status, row?.tmux, row?.peerFeatures, row?.startedAt]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

it.each(['', '{', '{"name":"a"', 'null', '7', '"x"', '[]'])('takes %j for no row', (text) => {
  expect(parseRow(text, 1)).toBeNull();
});

it('never throws, whatever the text', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void parseRow(text, 1)));
});

it('cannot be made to change the prototype of anything', () => {
  const row = parseRow('{"name":"a","__proto__":{"status":"idle","spare":true},"constructor":1}', 1)!;
  expect(row.status).toBeUndefined();
  expect(Object.getPrototypeOf(row)).toBe(Object.prototype);
});

it('lists a row as Claude does: with a socket, not spare, not parked', () => {
  const listed = { pid: 1, name: 'a', messagingSocketPath: '/s' };
  expect(isListed(listed)).toBe(true);
  expect(isListed({ pid: 1, name: 'a' })).toBe(false);
  expect(isListed({ ...listed, spare: true })).toBe(false);
  expect(isListed({ ...listed, parkedJobId: 'x' })).toBe(false);
});

it('is opening only when it is ours and takes no messages yet', () => {
  const opening = { pid: 1, name: 'a', bridge: BRIDGE, state: 'opening' };
  expect(isOpening(opening)).toBe(true);
  expect(isOpening({ ...opening, messagingSocketPath: '/s' })).toBe(false);
  expect(isOpening({ ...opening, bridge: 'other' })).toBe(false);
  expect(isOpening({ ...opening, state: 'serving' })).toBe(false);
});

it('says where a peer is', () => {
  expect(whereIs({ pid: 42, name: 'a', tmux: 'main:@1.%2' })).toBe('pid 42, tmux main:@1.%2');
  expect(whereIs({ pid: 42, name: 'a' })).toBe('pid 42');
});
