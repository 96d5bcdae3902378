import { accessSync, constants, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';

export interface CodexBinary {
  /** Absolute path of what runs: the native binary where it can be found, else the `codex` on PATH. */
  readonly file: string;
  /** The installed version; null when it cannot be told without running it. */
  readonly version: string | null;
}

const TARGETS: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
};

/**
 * Resolves `codex` on `env.PATH` to an absolute path, once: the PATH of a tmux window or a login shell is
 * another one. An npm install is followed to its native binary (layout of Codex 0.171.0), which spares a
 * Node launcher of 44 MB per pane. Null when there is no `codex`.
 */
export function findCodex(env: NodeJS.ProcessEnv): CodexBinary | null {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue;
    const file = resolve(folder, 'codex');
    if (isExecutableFile(file)) return nativeBinary(file) ?? standaloneBinary(file);
  }
  return null;
}

function standaloneBinary(file: string): CodexBinary {
  return { file, version: packageVersion(join(dirname(realpathSync(file)), '..')) };
}

/** The native binary behind an npm launcher; null for any other kind of install. */
function nativeBinary(launcher: string): CodexBinary | null {
  const platform = `${process.platform}-${process.arch}`;
  const target = TARGETS[platform];
  if (target === undefined) return null;
  const launcherFile = realpathSync(launcher);
  for (const vendor of vendorFolders(launcherFile, platform)) {
    const file = join(vendor, target, 'bin', 'codex');
    if (isExecutableFile(file)) return { file, version: packageVersion(join(vendor, target)) };
  }
  return null;
}

function vendorFolders(launcherFile: string, platform: string): string[] {
  const bundled = join(dirname(launcherFile), '..', 'vendor');
  try {
    const manifest = createRequire(launcherFile).resolve(`@openai/codex-${platform}/package.json`);
    return [join(dirname(manifest), 'vendor'), bundled];
  } catch {
    return [bundled];
  }
}

function packageVersion(folder: string): string | null {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'codex-package.json'), 'utf8'));
    const isObject = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
    return isObject && typeof manifest.version === 'string' ? manifest.version : null;
  } catch {
    return null;
  }
}

function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
