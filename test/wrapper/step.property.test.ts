import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { World } from './world.ts';

type Action = (world: World) => void;

const flow: readonly Action[] = [
  (world) => world.handleRequest(),
  (world) => world.deliver(),
  (world) => world.deliver(),
  (world) => world.answerRead(),
  (world) => world.says('commentary'),
  (world) => world.says('final_answer'),
  (world) => world.end('completed'),
  (world) => world.message('next'),
  (world) => world.message('now'),
  (world) => world.message('later'),
];

const faults: readonly Action[] = [
  (world) => world.refuseRequest(),
  (world) => world.failRead(),
  (world) => world.typed(),
  (world) => world.escape(),
  (world) => world.end('failed'),
  (world) => world.toolStarts(),
  (world) => world.toolEnds(),
  (world) => world.revert(),
  (world) => world.cut(0),
  (world) => world.cut(1),
  (world) => world.reopen(0),
  (world) => world.reopen(1),
  (world) => world.die(0, true),
  (world) => world.die(1, true),
  (world) => world.die(1, false),
  (world) => world.connect(false),
  (world) => world.connect(true),
  (world) => world.recoveryStarts(),
  (world) => world.fireAny(),
  (world) => {
    world.isDraining = true;
  },
  (world) => {
    world.isSteerable = !world.isSteerable;
  },
];

const seed = Number(process.env.PEER_SEED ?? Date.now() % 1_000_000);
const action = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...flow) },
  { weight: 1, arbitrary: fc.constantFrom(...faults) },
);

function play(actions: readonly Action[]): World {
  const world = new World();
  world.connect(false);
  for (const act of actions) act(world);
  return world;
}

describe(`whatever happens in whatever order (PEER_SEED=${seed})`, () => {
  const check = (property: (actions: Action[]) => void) =>
    fc.assert(fc.property(fc.array(action, { minLength: 5, maxLength: 120 }), property), {
      seed,
      numRuns: 3_000,
    });

  it('a message is at most one user item, has at most one outcome, and an answer covers it', () => {
    check((actions) => {
      expect(play(actions).violations).toEqual([]);
    });
  });

  it('every message has its outcome once the thread comes to rest', () => {
    check((actions) => {
      const world = play(actions);
      world.drain();
      expect(world.violations).toEqual([]);
      expect(world.outcomes.size).toBe(world.messages);
      expect(world.state.queue).toEqual([]);
    });
  });

  it('every message has exactly one outcome after a close at any moment', () => {
    check((actions) => {
      const world = play(actions);
      world.take({ type: 'close' });
      world.message('next');
      world.take({ type: 'close' });
      expect(world.violations).toEqual([]);
      expect(world.outcomes.size).toBe(world.messages);
    });
  });
});
