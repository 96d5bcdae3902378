import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { PeerError } from '../errors.ts';
import type { Disposer } from '../os/disposer.ts';
import { probe } from '../os/probe.ts';
import { scriptedModelConfig } from './codex-config.ts';

const START_MS = 10_000;
const POLL_MS = 50;

/** A throw-away home with a Codex of its own in it. */
export interface Stage {
  /** The whole environment of what runs there. */
  readonly env: Record<string, string>;
  readonly home: string;
}

/** Makes the home and starts a Codex app-server in it, both undone by `disposer`. */
export async function setStage(
  codexFile: string,
  modelUrl: string,
  own: NodeJS.ProcessEnv,
  disposer: Disposer,
): Promise<Stage> {
  const home = mkdtempSync(join(realpathSync(tmpdir()), 'peer-demo-'));
  disposer.defer('home', () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  for (const folder of ['codex/app-server-control', 'run']) {
    mkdirSync(join(home, folder), { recursive: true, mode: 0o700 });
  }
  writeFileSync(join(home, 'codex', 'config.toml'), scriptedModelConfig(modelUrl, [home]));
  const stage = { home, env: environment(own, home, codexFile) };
  await startServer(codexFile, stage, disposer);
  return stage;
}

/** Starts a child on the stage; it is ended, by its own pid, when the stage is cleared. */
export function startOn(stage: Stage, disposer: Disposer, file: string, args: readonly string[]) {
  const child = execa(file, args, { env: stage.env, extendEnv: false, cwd: stage.home, reject: false });
  disposer.defer(file, async () => {
    child.kill('SIGTERM');
    await child;
  });
  return child;
}

/** Nothing of the person's own gets in. */
function environment({ PATH = '', LANG, TERM }: NodeJS.ProcessEnv, home: string, codex: string) {
  return {
    PATH: [dirname(codex), PATH].join(delimiter),
    ...(LANG === undefined ? {} : { LANG }),
    ...(TERM === undefined ? {} : { TERM }),
    HOME: home,
    CODEX_HOME: join(home, 'codex'),
    CLAUDE_CONFIG_DIR: join(home, 'claude'),
    XDG_RUNTIME_DIR: join(home, 'run'),
    XDG_STATE_HOME: join(home, 'state'),
    TMPDIR: home,
  };
}

/** A private app-server where the daemon's would be: the first start of a daemon copies 424 MB (Codex 0.171.0). */
async function startServer(codexFile: string, stage: Stage, disposer: Disposer): Promise<void> {
  const socket = join(stage.home, 'codex', 'app-server-control', 'app-server-control.sock');
  const args = ['app-server', '--listen', `unix://${socket}`];
  const server = startOn(stage, disposer, codexFile, args);
  let hasEnded = false;
  void server.finally(() => {
    hasEnded = true;
  });
  for (let waitedMs = 0; waitedMs < START_MS && !hasEnded; waitedMs += POLL_MS) {
    if (await isListening(socket)) return;
    await sleep(POLL_MS);
  }
  throw new PeerError(
    'daemon-unreachable',
    `Codex did not start: ${codexFile} app-server. Nothing was sent.`,
  );
}

/** The path is a link to the socket. */
async function isListening(path: string): Promise<boolean> {
  try {
    return (await probe(realpathSync(path))) === 'accepts';
  } catch {
    return false;
  }
}
