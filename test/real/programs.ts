import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = join(fileURLToPath(new URL('.', import.meta.url)), 'node_modules');

/** Pinned in package.json beside this file. */
export const CODEX_VERSION = '0.171.0';

/** Folder with the `codex` and `claude` launchers as npm links them: the PATH entry of a user's installation. */
export const binFolder = join(packages, '.bin');

const codexTargets: Record<string, string> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
};

/** Absolute path of the native codex binary; throws when `node test/real/fetch.mjs` has not run. */
export function codexBinary(): string {
  const platform = `${process.platform}-${process.arch}`;
  const vendor = join(packages, '@openai', `codex-${platform}`, 'vendor', codexTargets[platform] ?? platform);
  return present(join(vendor, 'bin', 'codex'));
}

/** Absolute path of the native claude binary; throws when `node test/real/fetch.mjs` has not run. */
export function claudeBinary(): string {
  const folder = join(packages, '@anthropic-ai', `claude-code-${process.platform}-${process.arch}`);
  return present(join(folder, 'claude'));
}

function present(file: string): string {
  if (existsSync(file)) return file;
  throw new Error(`${file} is missing: run \`node ${join(dirname(packages), 'fetch.mjs')}\``);
}
