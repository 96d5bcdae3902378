import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pace } from '../../src/frames/pace.ts';
import { LIMITS } from '../../src/limits.ts';

/** The receiver's bucket: takes a message when a whole token is there, drops it otherwise. */
class Receiver {
  #tokens: number = LIMITS.burst;
  #atMs = 0;

  takes(atMs: number): boolean {
    this.#tokens = Math.min(LIMITS.burst, this.#tokens + (atMs - this.#atMs) / LIMITS.refillMs);
    this.#atMs = atMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

describe('the pace towards one recipient', () => {
  it('keeps every message under what its bucket takes, also when messages are late on their way', () => {
    const send = fc.record({
      gapMs: fc.oneof(fc.constant(0), fc.nat({ max: 6_000 })),
      lateMs: fc.nat({ max: 1_500 }),
    });
    fc.assert(
      fc.property(fc.array(send, { maxLength: 150 }), (sends) => {
        const pace = new Pace();
        let nowMs = 0;
        const arrivalsMs = sends.map(({ gapMs, lateMs }) => {
          nowMs += gapMs;
          return nowMs + pace.take('/a.sock', nowMs) + lateMs;
        });
        const receiver = new Receiver();
        for (const atMs of arrivalsMs.sort((a, b) => a - b)) expect(receiver.takes(atMs)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('lets a burst through at once and then one message per refill', () => {
    const pace = new Pace();
    const delaysMs = Array.from({ length: LIMITS.burst + 2 }, () => pace.take('/a.sock', 0));
    expect(delaysMs.slice(0, -3).every((delayMs) => delayMs === 0)).toBe(true);
    expect(delaysMs.slice(-3)).toEqual([LIMITS.refillMs, 2 * LIMITS.refillMs, 3 * LIMITS.refillMs]);
  });

  it('never waits longer than the messages before it need', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 5_000 }), { minLength: 1, maxLength: 100 }), (gapsMs) => {
        const pace = new Pace();
        let nowMs = 0;
        let lastMs = 0;
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          const sendMs = nowMs + pace.take('/a.sock', nowMs);
          expect(sendMs).toBeLessThanOrEqual(Math.max(nowMs, lastMs + LIMITS.refillMs));
          lastMs = sendMs;
        }
      }),
    );
  });

  it('does not depend on what others are sent', () => {
    const pace = new Pace();
    for (let sent = 0; sent < 100; sent += 1) pace.take('/a.sock', 0);
    expect(pace.take('/b.sock', 0)).toBe(0);
  });

  it('does not run backwards when the clock does', () => {
    const pace = new Pace();
    for (let sent = 0; sent < LIMITS.burst; sent += 1) pace.take('/a.sock', 10_000);
    expect(pace.take('/a.sock', 0)).toBe(2 * LIMITS.refillMs);
  });

  it('is remembered for a bounded number of recipients, the latest ones', () => {
    const pace = new Pace();
    for (let sent = 0; sent < LIMITS.burst; sent += 1) pace.take('/busy.sock', 0);
    for (let other = 1; other < LIMITS.pacedRecipients; other += 1) pace.take(`/${other}.sock`, 0);
    expect(pace.take('/busy.sock', 0)).toBeGreaterThan(0);
    for (let other = 0; other < LIMITS.pacedRecipients; other += 1) pace.take(`/other-${other}.sock`, 0);
    expect(pace.take('/busy.sock', 0)).toBe(0);
  });
});
