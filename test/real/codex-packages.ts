import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, symlinkSync } from 'node:fs';
import { rename, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endDaemon } from './daemon-end.ts';
import { CODEX_VERSION, codexBinary } from './programs.ts';

/**
 * The `packages` folder that `codex app-server daemon start` wants in its home (424 MB), made once per machine by
 * the first caller (3 to 8 s) and kept in the temporary folder; homes link to it.
 */
export async function sharedPackages(): Promise<string> {
  const shared = join(tmpdir(), `peerwire-codex-packages-${CODEX_VERSION}`);
  if (!existsSync(shared)) await makePackages(shared);
  return shared;
}

/** Parallel makers each fill a folder of their own; the first rename wins. */
async function makePackages(shared: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'pw-packages-'));
  const codexHome = join(scratch, 'codex');
  mkdirSync(codexHome);
  const env = { HOME: scratch, CODEX_HOME: codexHome, PATH: process.env.PATH };
  try {
    await promisify(execFile)(codexBinary(), ['app-server', 'daemon', 'start'], { env, cwd: scratch });
    await endDaemon(codexHome);
    const packages = join(codexHome, 'packages');
    await moveCurrent(join(packages, 'app-server-daemon', 'current'), packages, shared);
    await rename(packages, shared).catch((error: unknown) => {
      if (!existsSync(shared)) throw error;
    });
  } finally {
    await endDaemon(codexHome);
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Codex links the current release by its absolute path. */
async function moveCurrent(link: string, from: string, to: string): Promise<void> {
  const release = readlinkSync(link).replace(from, to);
  await unlink(link);
  symlinkSync(release, link);
}
