#!/usr/bin/env node
// @ts-check
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseSync } from 'vite';

/** A folder of src/ may import itself and every folder in a row below its own. */
const ROWS = [
  ['cli', 'mcp'],
  ['wrapper', 'a2a', 'control', 'tools', 'demo'],
  ['harness', 'queue', 'frames', 'registry', 'policy', 'store'],
  ['rpc'],
  ['os'],
];

/**
 * The imports allowed within one row. A message (frames) is what a queue orders and a store records; a wrapper serves
 * the tools and a control socket; a way in (mcp) is also a command.
 */
const WITHIN_ROW = [
  'cli→mcp',
  'wrapper→tools',
  'wrapper→control',
  'harness→queue',
  'harness→frames',
  'harness→registry',
  'frames→registry',
  'queue→frames',
  'store→frames',
];

const FOR_ALL = ['errors.ts', 'limits.ts', 'version.ts'];
const KNOWS_ONLY_THE_SEAM = ['tools', 'mcp', 'a2a'];
const CONCRETE_HARNESS = /^harness\/(codex|claude)[^/]*(\/|\.ts$)/;

/**
 * Finds imports in `<root>/src` that go against the dependency direction. Type imports count.
 *
 * @param {string} root folder that holds src/
 * @returns {string[]} one line per wrong import: file, what it imports, and the rule
 */
export function wrongImports(root) {
  const src = join(root, 'src');
  return sourceFiles(src).flatMap((file) => {
    const from = slashes(relative(src, file));
    const targets = importedFiles(file).map((target) => slashes(relative(src, target)));
    return targets.flatMap((to) => {
      const rule = brokenRule(from, to);
      return rule ? [`src/${from} imports ${slashes(join('src', to))}: ${rule}`] : [];
    });
  });
}

/** @param {string} folder */
function sourceFiles(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'));
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

/** @param {string} file */
function importedFiles(file) {
  const text = readFileSync(file, 'utf8');
  const { module, errors } = parseSync(file, text);
  if (errors[0]) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  const named = [
    ...module.staticImports.map((statement) => statement.moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest?.value)),
    // Dynamic imports, and types written as import('…').Name, which the parser does not list.
    ...Array.from(text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g), (match) => match[1]),
  ];
  const local = named.flatMap((name) => (name?.startsWith('.') ? [resolve(dirname(file), name)] : []));
  return [...new Set(local)];
}

/** @param {string} from @param {string} to both relative to src/ */
function brokenRule(from, to) {
  if (to === '../package.json') return null;
  if (to.startsWith('../')) return 'src imports nothing outside src, tests least of all';
  const [here, there] = [folderOf(from), folderOf(to)];
  if (FOR_ALL.includes(to)) return null;
  if (FOR_ALL.includes(from)) return `${from} is imported by all and imports only its like`;
  if (KNOWS_ONLY_THE_SEAM.includes(here) && CONCRETE_HARNESS.test(to))
    return `${here} knows harness/harness.ts only`;
  if (here === there) return null;
  const [row, targetRow] = [rowOf(here), rowOf(there)];
  if (row === -1) return `src/${here} has no place in ROWS (scripts/check-imports.mjs)`;
  if (targetRow === -1) return `src/${there} has no place in ROWS (scripts/check-imports.mjs)`;
  if (row === targetRow && !WITHIN_ROW.includes(`${here}→${there}`))
    return `${here} and ${there} stand side by side`;
  return row > targetRow ? `${there} stands above ${here}` : null;
}

/** @param {string} file */
function folderOf(file) {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : '';
}

/** @param {string} folder */
function rowOf(folder) {
  return ROWS.findIndex((row) => row.includes(folder));
}

/** @param {string} path */
function slashes(path) {
  return path.split(sep).join('/');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const wrong = wrongImports(process.argv[2] ?? dirname(dirname(fileURLToPath(import.meta.url))));
  for (const line of wrong) console.error(line);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}
