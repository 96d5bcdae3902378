import { describe, expect, it } from 'vitest';
import { extendChain, hopToken, isLoop } from '../../src/frames/hops.ts';
import { LIMITS } from '../../src/limits.ts';

const OWN = hopToken('/run/user/1000/cc-socks/4242.sock');
const other = (index: number) => index.toString(16).padStart(24, '0');
const chainOf = (length: number) => Array.from({ length }, (_, index) => other(index));

describe('our hop token', () => {
  it('is 24 hex digits, the same for one address and another for the next', () => {
    expect(OWN).toMatch(/^[0-9a-f]{24}$/);
    expect(hopToken('/run/user/1000/cc-socks/4242.sock')).toBe(OWN);
    expect(hopToken('/run/user/1000/cc-socks/4243.sock')).not.toBe(OWN);
  });

  it('cannot be made without the key of this process', () => {
    expect(hopToken('/run/user/1000/cc-socks/4242.sock', Buffer.alloc(32))).not.toBe(OWN);
  });
});

describe('a hop chain', () => {
  it('is begun by the first answer', () => {
    expect(extendChain([], OWN)).toEqual([OWN]);
  });

  it('keeps its newest entries, so that Claude Code does not drop what we send', () => {
    expect(extendChain(chainOf(LIMITS.hopEntries), OWN)).toEqual([
      ...chainOf(LIMITS.hopEntries).slice(1),
      OWN,
    ]);
  });

  it('is no loop as long as it is short and we are in it fewer than ten times', () => {
    const nine = Array.from({ length: LIMITS.hopOwnToken - 1 }, () => OWN);
    expect(isLoop([], OWN)).toBeNull();
    expect(isLoop(chainOf(LIMITS.hopEntries), OWN)).toBeNull();
    expect(isLoop(nine, OWN)).toBeNull();
    expect(isLoop([...nine, OWN], OWN)).toBe('hop-loop');
    expect(isLoop(chainOf(LIMITS.hopEntries + 1), OWN)).toBe('hop-runaway');
  });

  it('ends two peers that answer each other for ever', () => {
    const tokens = [hopToken('/a.sock'), hopToken('/b.sock')];
    let chain: string[] = [];
    let hops = 0;
    while (isLoop(chain, tokens[hops % 2]!) === null && hops < 1_000) {
      chain = extendChain(chain, tokens[hops % 2]!);
      hops += 1;
    }
    expect(hops).toBe(2 * LIMITS.hopOwnToken);
  });
});
