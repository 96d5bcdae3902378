import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptedModelConfig } from '../../src/demo/codex-config.ts';
import type { CodexModel } from './codex-model.ts';
import { sharedPackages } from './codex-packages.ts';
import type { World } from './temp.ts';

/** What a codex home is filled with besides the model's address. */
export interface CodexHomeOptions {
  /** Folders whose trust is given; the world's own by default. */
  trusted?: readonly string[];
  /** Links the 424 MB that `daemon start` would copy; needed before anything starts a daemon. */
  packages?: boolean;
  /** Top-level keys, in TOML, e.g. `approval_policy = "on-request"`. */
  settings?: string;
  /** Tables, in TOML. */
  tables?: string;
}

/** Fills the world's empty CODEX_HOME so that Codex runs on the scripted model without asking anything. */
export async function fillCodexHome(world: World, model: CodexModel, options: CodexHomeOptions = {}) {
  const config = scriptedModelConfig(model.baseUrl, options.trusted ?? [world.work]);
  const toml = [options.settings ?? '', config, options.tables ?? ''].join('\n');
  writeFileSync(join(world.codexHome, 'config.toml'), toml);
  if (options.packages) symlinkSync(await sharedPackages(), join(world.codexHome, 'packages'));
}

/** Where a Codex on this home listens unless told otherwise. */
export function controlSocket(world: World): string {
  return join(world.codexHome, 'app-server-control', 'app-server-control.sock');
}
