import { expect, it } from 'vitest';
import { findPeer } from '../../src/registry/find.ts';
import { BRIDGE, type Row } from '../../src/registry/row.ts';

const sol = peer(10, 'Sol', { tmux: 'main:@1.%1', cwd: '/srv/app' });
const luna = peer(11, 'Luna');

it('finds a peer by name, without case', () => {
  expect(findPeer([sol, luna], 'sol')).toBe(sol);
  expect(findPeer([sol, luna], 'LUNA')).toBe(luna);
});

it('never finds a session that takes no messages', () => {
  const old: Row = { pid: 12, name: 'old' };
  expect(() => findPeer([old, peer(13, 'spare', { spare: true })], 'old')).toThrow('No peer named "old"');
});

it('finds one that is still opening only when none that serves is meant', () => {
  const opening: Row = { pid: 12, name: 'sol', bridge: BRIDGE, state: 'opening' };
  expect(findPeer([opening], 'Sol')).toBe(opening);
  expect(findPeer([opening, sol], 'Sol')).toBe(sol);
});

it('says which names are near', () => {
  for (const typed of ['so', 'sool', 'sal', 'solx']) {
    expect(() => findPeer([sol, luna], typed), typed).toThrow('Did you mean "Sol"?');
  }
  expect(() => findPeer([sol, luna], 'lnua')).toThrow('Did you mean "Luna"?');
  expect(() => findPeer([sol, peer(12, 'review-backend')], 'backend')).toThrow(
    'Did you mean "review-backend"?',
  );
});

it('says where to look when no name is near', () => {
  const error = failure(() => findPeer([sol, luna], 'Jupiter'));
  expect(error.message).toBe(
    'No peer named "Jupiter" is running; nothing was sent. `peer list` shows who is there.',
  );
  expect(error).toMatchObject({ word: 'no-such-peer', exitCode: 3 });
  expect(failure(() => findPeer([sol], '')).word).toBe('no-such-peer');
});

it('never guesses between two of a name, and lists both with pid and place', () => {
  const twin = peer(12, 'SOL', { cwd: '/srv/other' });
  const error = failure(() => findPeer([sol, twin, luna], 'sol'));
  expect(error).toMatchObject({ word: 'ambiguous-peer', exitCode: 3 });
  expect(error.message.split('\n')).toEqual([
    '2 peers are named "sol"; nothing was sent. Give the pid in place of the name:',
    '  10  "Sol"  tmux main:@1.%1, /srv/app',
    '  12  "SOL"  /srv/other',
  ]);
});

it('finds by pid, and by a name that looks like one first', () => {
  const digits = peer(12, '10');
  expect(findPeer([sol, luna], '10')).toBe(sol);
  expect(findPeer([sol, digits], '10')).toBe(digits);
});

it('shows hostile names and places safely', () => {
  const hostile = peer(12, 'sol\x1b[2J', { tmux: 'x\n  99  "Sol"', cwd: '/\x1b]0;x\x07' });
  const messages = [
    failure(() => findPeer([hostile, peer(13, 'sol\x1b[2J')], 'sol\x1b[2J')).message,
    failure(() => findPeer([hostile], 'sol')).message,
    failure(() => findPeer([], '\x1b[31m\nred')).message,
  ];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are the subject
  for (const message of messages) expect(message).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  expect(messages[0]!.split('\n')).toHaveLength(3);
});

function peer(pid: number, name: string, fields: Partial<Row> = {}): Row {
  return { pid, name, messagingSocketPath: `/s/${pid}.sock`, ...fields };
}

function failure(action: () => unknown): { word: string; message: string } {
  try {
    action();
  } catch (error) {
    return error as { word: string; message: string };
  }
  return expect.fail('something was found');
}
