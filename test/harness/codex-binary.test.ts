import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findCodex } from '../../src/harness/codex-binary.ts';

const target = { linux: 'unknown-linux-musl', darwin: 'apple-darwin' }[process.platform as string];
const triple = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-${target}`;

describe('the codex command', () => {
  let root: string;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'peer-codex-')));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function file(path: string, content = '', mode = 0o755): string {
    const full = join(root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    chmodSync(full, mode);
    return full;
  }

  test('is null when PATH has none, or only one that cannot be run', () => {
    file('a/codex', '', 0o644);
    mkdirSync(join(root, 'b/codex'), { recursive: true });
    expect(findCodex({ PATH: `${root}/a:${root}/b:${root}/none:` })).toBeNull();
    expect(findCodex({})).toBeNull();
  });

  test('is the first on PATH, as an absolute path', () => {
    const first = file('a/codex');
    file('b/codex');
    expect(findCodex({ PATH: `${root}/none:${root}/a:${root}/b` })).toEqual({ file: first, version: null });
  });

  test('of an npm install is its native binary, with the version of the package', () => {
    const modules = 'lib/node_modules/@openai';
    const platform = `codex-${process.platform}-${process.arch}`;
    const launcher = file(`${modules}/codex/bin/codex.js`, '#!/usr/bin/env node');
    file(`${modules}/codex/package.json`, '{"name":"@openai/codex"}', 0o644);
    file(`${modules}/${platform}/package.json`, `{"name":"@openai/${platform}"}`, 0o644);
    const native = file(`${modules}/${platform}/vendor/${triple}/bin/codex`);
    file(`${modules}/${platform}/vendor/${triple}/codex-package.json`, '{"version":"0.171.0"}', 0o644);
    mkdirSync(join(root, 'bin'));
    symlinkSync(launcher, join(root, 'bin/codex'));
    expect(findCodex({ PATH: join(root, 'bin') })).toEqual({ file: native, version: '0.171.0' });
  });

  test('of a standalone install tells its version too', () => {
    const binary = file('current/bin/codex');
    file('current/codex-package.json', '{"version":"0.171.0"}', 0o644);
    mkdirSync(join(root, 'bin'));
    symlinkSync(binary, join(root, 'bin/codex'));
    expect(findCodex({ PATH: join(root, 'bin') })).toEqual({
      file: join(root, 'bin/codex'),
      version: '0.171.0',
    });
  });
});
