import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { wrongImports } from '../../scripts/check-imports.mjs';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'peer-imports-'));
});

afterEach(() => {
  rmSync(root, { recursive: true });
});

function plant(file: string, text: string) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

test('an import of a folder further up is named with its file and its target', () => {
  plant('src/rpc/client.ts', "import { open } from '../wrapper/open.ts';");
  expect(wrongImports(root)).toEqual([
    'src/rpc/client.ts imports src/wrapper/open.ts: wrapper stands above rpc',
  ]);
});

test.each([
  ['a type import', "import type { Row } from '../registry/row.ts';"],
  ['a re-export', "export { Row } from '../registry/row.ts';"],
  ['a re-export of everything', "export * from '../registry/row.ts';"],
  ['an import for its effect', "import '../registry/row.ts';"],
  ['a dynamic import', "const row = await import('../registry/row.ts');"],
  ['an import inside a type', "type Row = import('../registry/row.ts').Row;"],
])('%s counts', (_kind, text) => {
  plant('src/os/proc.ts', text);
  expect(wrongImports(root)).toEqual([
    'src/os/proc.ts imports src/registry/row.ts: registry stands above os',
  ]);
});

test.each([
  ['src/registry/live.ts', '../frames/parse.ts', 'registry and frames stand side by side'],
  ['src/queue/replay.ts', '../store/open.ts', 'queue and store stand side by side'],
  ['src/tools/ask.ts', '../harness/codex.ts', 'tools knows harness/harness.ts only'],
  ['src/mcp/serve.ts', '../harness/claude-find.ts', 'mcp knows harness/harness.ts only'],
  ['src/a2a/serve.ts', '../harness/codex/resume.ts', 'a2a knows harness/harness.ts only'],
  ['src/control/server.ts', '../wrapper/peer.ts', 'control and wrapper stand side by side'],
  ['src/control/place.ts', '../mcp/main.ts', 'mcp stands above control'],
  ['src/cli/list.ts', '../../test/fake-harness.ts', 'src imports nothing outside src, tests least of all'],
  ['src/limits.ts', './os/proc.ts', 'limits.ts is imported by all and imports only its like'],
  ['src/helpers/a.ts', '../os/proc.ts', 'src/helpers has no place in ROWS (scripts/check-imports.mjs)'],
])('%s may not import %s', (file, target, rule) => {
  plant(file, `import { x } from '${target}';`);
  expect(wrongImports(root)).toEqual([
    expect.stringMatching(new RegExp(`^${file} imports .*: ${escaped(rule)}$`)),
  ]);
});

test.each([
  ['src/cli/open.ts', '../wrapper/main.ts'],
  ['src/cli/open.ts', '../harness/codex.ts'],
  ['src/cli/program.ts', '../mcp/main.ts'],
  ['src/mcp/route.ts', '../control/client.ts'],
  ['src/wrapper/control.ts', '../control/server.ts'],
  ['src/tools/ask.ts', '../harness/harness.ts'],
  ['src/harness/codex.ts', '../frames/parse.ts'],
  ['src/frames/serve.ts', '../registry/key.ts'],
  ['src/os/proc.ts', '../errors.ts'],
  ['src/errors.ts', './limits.ts'],
  ['src/os/proc.ts', './linux.ts'],
  ['src/os/proc.ts', 'node:fs'],
  ['src/cli/main.ts', '../../package.json'],
])('%s may import %s', (file, target) => {
  plant(file, `import { x } from '${target}';`);
  expect(wrongImports(root)).toEqual([]);
});

function escaped(text: string) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
