// @ts-check
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The licence texts of the packages whose files went into a bundle; their authors ask that every copy
 * carries them.
 *
 * @param {string} root folder that holds node_modules
 * @param {string[]} inputs file names relative to root, as in esbuild's metafile
 */
export async function licences(root, inputs) {
  const parts = [];
  for (const name of packageNames(inputs)) {
    const folder = join(root, 'node_modules', name);
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} is bundled but has no licence file`);
    parts.push(`${name} ${version}\n\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`);
  }
  return parts.join(`\n${'-'.repeat(72)}\n\n`);
}

/** @param {string[]} inputs */
function packageNames(inputs) {
  const names = inputs.map((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}
