import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));

/**
 * Installs the pinned Codex and Claude Code into `test/real/node_modules` unless exactly these versions are
 * there. No install scripts run: the tests call the native binaries, which come as platform packages.
 * @returns {boolean} whether anything was installed
 * @throws {Error} with npm's own last lines when the registry cannot be reached
 */
export function fetchPrograms() {
  const installed = installedPackages();
  if (pinned().every(([name, version]) => installed[`node_modules/${name}`]?.version === version))
    return false;
  const args = ['ci', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = spawnSync('npm', args, { encoding: 'utf8' });
  if (npm.status !== 0) {
    const said = `${npm.stderr || npm.stdout || npm.error}`.trim().split('\n').slice(-5).join('\n');
    throw new Error(`The pinned Codex and Claude Code could not be installed into test/real: ${said}`);
  }
  return true;
}

/** @returns {[string, string][]} names and versions */
function pinned() {
  return Object.entries(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies);
}

/** npm writes this file last, so an interrupted installation counts as none. */
function installedPackages() {
  const file = join(folder, 'node_modules', '.package-lock.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {};
}

if (pathToFileURL(process.argv[1] ?? '').href === import.meta.url) {
  const started = Date.now();
  try {
    const installed = fetchPrograms();
    const names = pinned().map(([name, version]) => `${name} ${version}`);
    const how = installed ? `installed in ${((Date.now() - started) / 1000).toFixed(1)} s` : 'already there';
    console.log(`real programs: ${names.join(', ')} (${how})`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
