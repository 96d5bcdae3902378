import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { ReplayWindow } from '../../src/queue/replay.ts';

const sender = fc.constantFrom('/a.sock', '/b.sock', null);
const msgId = fc.constantFrom('1', '2', '3', '4', '5', null);

describe('the replay window', () => {
  it('knows exactly the newest different messages', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(sender, msgId), { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        (taken, size) => {
          const window = new ReplayWindow(size);
          let newest: string[] = [];
          for (const [from, id] of taken) {
            const key = JSON.stringify([from, id]);
            expect(window.isReplay(from, id)).toBe(newest.includes(key));
            window.remember(from, id);
            if (id !== null && !newest.includes(key)) newest = [...newest, key].slice(-size);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('takes a message again that was turned away before', () => {
    const window = new ReplayWindow();
    expect(window.isReplay('/a.sock', 'id')).toBe(false);
    expect(window.isReplay('/a.sock', 'id')).toBe(false);
  });

  it('does not mix up senders, whatever their ids hold', () => {
    const window = new ReplayWindow();
    window.remember('/a.sock', '1');
    window.remember(null, '/b.sock1');
    expect(window.isReplay('/b.sock', '1')).toBe(false);
    expect(window.isReplay('/a.soc', 'k1')).toBe(false);
    expect(window.isReplay(null, '/a.sock1')).toBe(false);
  });

  it('holds as many messages as the limit says', () => {
    const window = new ReplayWindow();
    for (let id = 0; id <= LIMITS.replayWindow; id += 1) window.remember('/a.sock', `${id}`);
    expect(window.isReplay('/a.sock', '0')).toBe(false);
    expect(window.isReplay('/a.sock', '1')).toBe(true);
  });
});
