import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nextChange, watchFolder } from '../../src/os/watch.ts';
import { tempFolder, until } from './fixtures.ts';

it('wakes at once when something in the folder changes', async () => {
  using folder = tempFolder();
  const startedAt = performance.now();
  const change = nextChange(folder.path, 5_000);
  writeFileSync(join(folder.path, 'row.json'), '');
  await change;
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

it('wakes after the limit when nothing changes, and where there is no folder', async () => {
  using folder = tempFolder();
  const startedAt = performance.now();
  await nextChange(folder.path, 50);
  await nextChange(join(folder.path, 'missing'), 50);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(95);
});

it('ends with the reason of its signal', async () => {
  using folder = tempFolder();
  const controller = new AbortController();
  const change = nextChange(folder.path, 5_000, controller.signal);
  controller.abort(new Error('closing'));
  await expect(change).rejects.toThrow('closing');
  await expect(nextChange(folder.path, 5_000, controller.signal)).rejects.toThrow('closing');
});

it('says nothing after it is closed', async () => {
  using folder = tempFolder();
  let changes = 0;
  const watcher = watchFolder(folder.path, () => {
    changes += 1;
  });
  writeFileSync(join(folder.path, 'a'), '');
  await until(() => changes > 0);
  watcher!.close();
  const seen = changes;
  writeFileSync(join(folder.path, 'b'), '');
  await nextChange(folder.path, 50);
  expect(changes).toBe(seen);
});
