import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Pane, PaneExit } from '../../src/wrapper/pane.ts';
import { afterExit, PaneKeeper, RAPID_MS } from '../../src/wrapper/pane-keeper.ts';

const crash: PaneExit = { code: 1, signal: null };
const killed: PaneExit = { code: null, signal: 'SIGKILL' };

test('a TUI that ends with 0 or is hung up closes the peer, however long it lived', () => {
  for (const livedMs of [0, RAPID_MS * 2]) {
    expect(afterExit({ code: 0, signal: null }, livedMs, 3)).toEqual({ action: 'close' });
    expect(afterExit({ code: null, signal: 'SIGHUP' }, livedMs, 0)).toEqual({ action: 'close' });
  }
});

test('three crashes in a row are restarted, later and later; the fourth leaves the peer without a pane', () => {
  expect(afterExit(crash, 5, 0)).toEqual({ action: 'restart', delayMs: 0, rapidRestarts: 1 });
  expect(afterExit(killed, 5, 1)).toEqual({ action: 'restart', delayMs: 500, rapidRestarts: 2 });
  expect(afterExit(crash, 5, 2)).toEqual({ action: 'restart', delayMs: 2_000, rapidRestarts: 3 });
  expect(afterExit(crash, 5, 3)).toEqual({
    action: 'headless',
    reason: 'it ended with status 1, 4 times in a row',
  });
});

test('a TUI that lived ten seconds begins the count anew', () => {
  expect(afterExit(crash, RAPID_MS, 3)).toEqual({ action: 'restart', delayMs: 0, rapidRestarts: 1 });
});

test('no run of short lives has more than four starts', () => {
  const shortLives = fc.array(
    fc.record({ code: fc.integer({ min: 1, max: 255 }), livedMs: fc.nat(RAPID_MS - 1) }),
    {
      minLength: 4,
    },
  );
  fc.assert(
    fc.property(shortLives, (lives) => {
      let rapidRestarts = 0;
      const starts = lives.findIndex(({ code, livedMs }) => {
        const verdict = afterExit({ code, signal: null }, livedMs, rapidRestarts);
        if (verdict.action === 'restart') rapidRestarts = verdict.rapidRestarts;
        return verdict.action === 'headless';
      });
      expect(starts).toBe(3);
    }),
  );
});

/** A pane whose exit the test decides. */
class ScriptedPane implements Pane {
  readonly pid = 1;
  readonly exited: Promise<PaneExit>;
  exit: (exit: PaneExit) => void = () => {};

  constructor() {
    this.exited = new Promise((resolve) => {
      this.exit = resolve;
    });
  }

  async end(): Promise<void> {
    this.exit({ code: 0, signal: null });
    await this.exited;
  }
}

/** A keeper of scripted panes, with what it told its caller. */
async function openKeeper(
  options: { openFails?: (count: number) => boolean; wait?: () => Promise<void> } = {},
) {
  const panes: ScriptedPane[] = [];
  const told: string[] = [];
  const keeper = await PaneKeeper.open({
    open: async () => {
      if (options.openFails?.(panes.length)) throw new Error('no more panes');
      const pane = new ScriptedPane();
      panes.push(pane);
      return pane;
    },
    log: { write: () => {} },
    onClosed: () => told.push('closed'),
    onHeadless: (reason) => told.push(`headless: ${reason}`),
    now: () => 0,
    wait: options.wait ?? (async () => {}),
  });
  return { keeper, panes, told };
}

async function crashUntil(panes: ScriptedPane[], count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    await expect.poll(() => panes.length).toBe(index + 1);
    panes[index]!.exit(killed);
  }
}

test('the keeper restarts three times and then tells its caller once', async () => {
  const { panes, told } = await openKeeper();
  await crashUntil(panes, 4);
  await expect
    .poll(() => told)
    .toEqual(['headless: it was killed (SIGKILL; often the machine is out of memory), 4 times in a row']);
  expect(panes).toHaveLength(4);
});

test('the keeper tells its caller that the person closed the pane, and opens none', async () => {
  const { panes, told } = await openKeeper();
  panes[0]!.exit({ code: 0, signal: null });
  await expect.poll(() => told).toEqual(['closed']);
  expect(panes).toHaveLength(1);
});

test('a pane that cannot be opened again leaves the peer without one', async () => {
  const { panes, told } = await openKeeper({ openFails: (count) => count === 1 });
  panes[0]!.exit(crash);
  await expect.poll(() => told).toEqual(['headless: no more panes']);
});

test('an ended keeper restarts nothing and tells nothing', async () => {
  const { keeper, panes, told } = await openKeeper();
  await keeper.end();
  await keeper.end();
  expect(panes).toHaveLength(1);
  expect(told).toEqual([]);
});

test('a keeper that ends while it waits for a restart opens nothing', async () => {
  let goOn: (() => void) | undefined;
  const wait = () =>
    new Promise<void>((resolve) => {
      goOn = resolve;
    });
  const { keeper, panes, told } = await openKeeper({ wait });
  panes[0]!.exit(crash);
  await expect.poll(() => goOn).toBeDefined();
  const ending = keeper.end();
  goOn!();
  await ending;
  expect(panes).toHaveLength(1);
  expect(told).toEqual([]);
});
