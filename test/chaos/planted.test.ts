import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openWorld, printWhenFailed, type World } from '../real/temp.ts';
import { check } from './checker.ts';
import type { Evidence } from './evidence.ts';
import { buildWith, type Change } from './planted.ts';
import type { Action } from './schedule.ts';
import { Stage } from './stage.ts';

/** Each name is a peer of its own, of a build that breaks the promise in one way. */
const PLANTED: { readonly [name: string]: readonly Change[] } = {
  'Claims late': [
    ['wrapper/shell.ts', '    await record.claim(id, { clientId, afterTurnId });\n', ''],
    [
      'wrapper/shell.ts',
      '    thread.start(clientId, frame(message));\n',
      `    thread.start(clientId, frame(message));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await record.claim(id, { clientId, afterTurnId });\n`,
    ],
  ],
  'Runs again': [
    [
      'wrapper/restore.ts',
      '      turnId,\n      isTaken,\n    };',
      "      turnId,\n      isTaken,\n      ifAbsent: 'run',\n    };",
    ],
    [
      'wrapper/settle.ts',
      '  switch (seen.type) {',
      "  if (claim.ifAbsent === 'run') return 'run';\n  switch (seen.type) {",
    ],
    [
      'store/store.ts',
      'this.#write(() => this.#insertClaim(id, this.#stage(id), claim));',
      'this.#write(() => (this.#stage(id).isClaimed ? undefined : this.#insertClaim(id, this.#stage(id), claim)));',
    ],
  ],
  'Answers again': [
    ['store/restore.ts', 'AND reply.delivery IS NULL AND reply.noted_at_ms', 'AND reply.noted_at_ms'],
    ['store/stage.ts', ' && !stage.isTold', ''],
    [
      'wrapper/replies.ts',
      'halfTold(outcome, shortId(message), name)',
      'reply(outcome, shortId(message), name)',
    ],
  ],
};
const NAMES = Object.keys(PLANTED);

let world: World;
let evidence: Evidence;

const kill = { type: 'wrapper', what: 'SIGKILL', openAfterMs: 0 } as const;
const send = { type: 'send', sender: 0, priority: 'next' } as const;
/** One message each. The second peer is killed while its model thinks, the third when it has answered. */
const SCHEDULE: readonly Action[] = [
  { ...kill, atMs: 0, peer: 1, moment: 'taken' },
  { ...send, atMs: 0, peer: 1, marker: 'mk-0000-0004' },
  { ...send, atMs: 1_000, peer: 0, marker: 'mk-0000-0008' },
  { ...send, atMs: 1_000, peer: 2, marker: 'mk-0000-0012' },
  { ...kill, atMs: 2_500, peer: 2, moment: 'any' },
];

beforeAll(async () => {
  world = openWorld();
  const builds = NAMES.map(async (name, at) => ({
    name,
    script: await buildWith(join(world.root, `build-${at}`), PLANTED[name]!),
  }));
  const stage = await Stage.open(world, await Promise.all(builds), 1);
  await stage.perform(SCHEDULE);
  await stage.settle(8_000);
  evidence = await stage.evidence(0);
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => printWhenFailed(world));

/** What the checker says of the messages to one peer. */
function breachesOf(peer: string): string[] {
  const markers = evidence.sent.filter((sent) => sent.peer === peer).map(({ marker }) => marker);
  return check(evidence).flatMap(({ marker, what }) => (markers.includes(marker) ? [what] : []));
}

test('the checker sees a claim that is recorded after the message was handed over', () => {
  expect(breachesOf('Claims late')).toContainEqual(expect.stringMatching(/claimed \d+ ms after the model/));
});

test('the checker sees a message that is handed over again after reopening', () => {
  expect(breachesOf('Runs again')).toContain('2 user items have its client id');
});

test('the checker sees an answer that is sent again after reopening', () => {
  expect(breachesOf('Answers again')).toContain('2 answers came');
});
