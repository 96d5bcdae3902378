import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../../scripts/build.mjs';

const repository = fileURLToPath(new URL('../..', import.meta.url));

/** In a file of `src/`, what stands there now and what is to stand there. */
export type Change = readonly [file: string, from: string, to: string];

/**
 * Builds `peer` with faults planted in a copy of its source; resolves to what node runs.
 * @throws Error when a file does not hold the text that is to be changed exactly once
 */
export async function buildWith(root: string, changes: readonly Change[]): Promise<string> {
  mkdirSync(root, { recursive: true });
  for (const part of ['src', 'bin', 'package.json']) {
    cpSync(join(repository, part), join(root, part), { recursive: true });
  }
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
  for (const [file, from, to] of changes) plant(join(root, 'src', file), from, to);
  await build({ root });
  return join(root, 'bin', 'peer.js');
}

function plant(file: string, from: string, to: string): void {
  const parts = readFileSync(file, 'utf8').split(from);
  if (parts.length !== 2) throw new Error(`${file} holds this ${parts.length - 1} times: ${from}`);
  writeFileSync(file, parts.join(to));
}
