#!/usr/bin/env node
// @ts-check
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build as bundle } from 'esbuild';
import { licences } from './licences.mjs';

const repository = dirname(dirname(fileURLToPath(import.meta.url)));
/** What bin/peer.js loads. */
const ENTRIES = ['main.js', 'list.cjs'];

/** How long a chunk of an earlier build stays: a peer that runs from it may still load a command. */
const STALE_AFTER_MS = 10 * 60_000;

/** CommonJS packages (ws, commander) call `require` for Node's own modules. */
const REQUIRE = "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);";

/**
 * Bundles src/cli into dist/: main.ts with a chunk for each command, list-main.ts as one file. Chunks carry a hash of their content and are written before the
 * entry that names them, so a command started meanwhile sees the earlier build or this one.
 *
 * @param {object} [options]
 * @param {string} [options.root] folder with src/, package.json and node_modules/
 * @param {boolean} [options.clean] empties dist/ first, for packing
 * @param {'warning' | 'silent'} [options.logLevel] whether esbuild itself prints what it finds
 * @returns {Promise<string[]>} the file names of this build
 * @throws {import('esbuild').BuildFailure} when a source does not bundle; dist/ is then unchanged
 */
export async function build({ root = repository, clean = false, logLevel = 'silent' } = {}) {
  const dist = join(root, 'dist');
  const common = {
    absWorkingDir: root,
    bundle: true,
    platform: /** @type {const} */ ('node'),
    target: 'node20',
    minifySyntax: true,
    legalComments: /** @type {const} */ ('eof'),
    external: await installedPackages(root),
    write: /** @type {const} */ (false),
    metafile: /** @type {const} */ (true),
    logLevel,
  };
  const [commands, list] = await Promise.all([
    bundle({
      ...common,
      entryPoints: ['src/cli/main.ts'],
      outdir: 'dist',
      chunkNames: '[name]-[hash]',
      splitting: true,
      format: 'esm',
      banner: { js: REQUIRE },
    }),
    bundle({ ...common, entryPoints: ['src/cli/list-main.ts'], outfile: 'dist/list.cjs', format: 'cjs' }),
  ]);
  const outputs = [...commands.outputFiles, ...list.outputFiles];
  const inputs = { ...commands.metafile.inputs, ...list.metafile.inputs };

  if (clean) await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  const files = new Map(outputs.map((file) => [basename(file.path), file.text]));
  files.set('third-party-licences.txt', await licences(root, Object.keys(inputs)));
  const inOrder = [...files].sort(([a], [b]) => entryLast(a, b));
  for (const [name, text] of inOrder) await replaceFile(join(dist, name), text);
  await removeStale(dist, files);
  return [...files.keys()];
}

/**
 * What package.json installs beside us stays out of the bundle; everything else goes in.
 * @param {string} root
 */
async function installedPackages(root) {
  const { dependencies, optionalDependencies } = JSON.parse(
    await readFile(join(root, 'package.json'), 'utf8'),
  );
  return Object.keys({ ...dependencies, ...optionalDependencies });
}

/** @param {string} a @param {string} b */
function entryLast(a, b) {
  return Number(ENTRIES.includes(a)) - Number(ENTRIES.includes(b));
}

/** @param {string} file @param {string} text */
async function replaceFile(file, text) {
  if ((await readFile(file, 'utf8').catch(() => null)) === text) return;
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, text);
  await rename(temporary, file);
}

/** @param {string} dist @param {ReadonlyMap<string, string>} files */
async function removeStale(dist, files) {
  const oldestKept = Date.now() - STALE_AFTER_MS;
  for (const name of await readdir(dist)) {
    if (files.has(name)) continue;
    const found = await stat(join(dist, name)).catch(() => null);
    if (found && found.mtimeMs < oldestKept) await rm(join(dist, name), { force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const startedMs = performance.now();
  try {
    const files = await build({ clean: process.argv.includes('--clean'), logLevel: 'warning' });
    console.log(`dist/ built: ${files.length} files in ${Math.round(performance.now() - startedMs)} ms`);
  } catch (error) {
    if (!(error instanceof Error && 'errors' in error)) console.error(error);
    console.error('dist/ is unchanged: the sources do not bundle.');
    process.exitCode = 1;
  }
}
