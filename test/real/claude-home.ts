import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Made up; Claude Code keeps only its last 20 characters. */
const API_KEY = 'sk-ant-api03-made-up-for-tests-00000000000000000000000000000000-TESTKEY0';

/** What a session takes over from the test: where its registry, sockets and terminal are. */
const SHARED = ['HOME', 'CLAUDE_CONFIG_DIR', 'XDG_RUNTIME_DIR', 'TMPDIR', 'TMUX', 'TMUX_PANE'] as const;

export interface ClaudeOptions {
  /** What the session shares with the product under test: `HOME`, `CLAUDE_CONFIG_DIR`, `XDG_RUNTIME_DIR`, … */
  readonly env: NodeJS.ProcessEnv;
  /** `url` of the scripted model. */
  readonly modelUrl: string;
  readonly name: string;
  /** Default: `env.HOME`. */
  readonly cwd?: string;
  /** `bypassPermissions` is refused to root, unless `IS_SANDBOX=1` is in `extraEnv`. */
  readonly permissionMode?: 'manual' | 'acceptEdits' | 'bypassPermissions';
  readonly args?: readonly string[];
  readonly extraEnv?: NodeJS.ProcessEnv;
  /** Numeric ids to run as; the folders must be theirs. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

/** The arguments every real session is started with. */
export function claudeArgs({ name, permissionMode = 'manual', args = [] }: ClaudeOptions): string[] {
  return ['--name', name, '--permission-mode', permissionMode, ...args];
}

/**
 * The whole environment of a real Claude Code that talks to the scripted model.
 * @throws when `env.HOME` is missing or this machine's own home
 */
export function claudeEnv({ env, modelUrl, extraEnv }: ClaudeOptions): NodeJS.ProcessEnv {
  const shared = SHARED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  return {
    ...Object.fromEntries(shared),
    HOME: temporaryHome(env),
    PATH: env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    USER: 'tester',
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: API_KEY,
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Ten by default: a stream cut off is asked for again for minutes.
    CLAUDE_CODE_MAX_RETRIES: '1',
    ...extraEnv,
  };
}

/**
 * Writes what keeps Claude Code 2.1.332 from showing any first-run screen: onboarding, API key approval, trust
 * of the folders `cwds`. What is in the files already is kept.
 */
export async function seedClaudeHome(env: NodeJS.ProcessEnv, cwds: readonly string[]): Promise<void> {
  const configDir = claudeConfigDir(env);
  await mkdir(configDir, { recursive: true, mode: 0o700 });
  const state = await readJson(stateFile(env));
  const trusted = cwds.map((cwd) => [
    cwd,
    { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true },
  ]);
  await writeJson(stateFile(env), {
    ...state,
    hasCompletedOnboarding: true,
    lastOnboardingVersion: '2.1.332',
    theme: 'dark',
    numStartups: 5,
    customApiKeyResponses: { approved: [API_KEY.slice(-20)], rejected: [] },
    projects: { ...(state.projects as object), ...Object.fromEntries(trusted) },
  });
  const settings = await readJson(join(configDir, 'settings.json'));
  await writeJson(join(configDir, 'settings.json'), {
    skipDangerousModePermissionPrompt: true,
    permissions: { allow: ['Bash(*)'] },
    ...settings,
  });
}

/** `CLAUDE_CONFIG_DIR`, else `~/.claude`. */
export function claudeConfigDir(env: NodeJS.ProcessEnv): string {
  return env.CLAUDE_CONFIG_DIR ?? join(temporaryHome(env), '.claude');
}

/** `.claude.json` lies in the home folder, or in `CLAUDE_CONFIG_DIR` when that is set (2.1.332). */
function stateFile(env: NodeJS.ProcessEnv): string {
  return join(env.CLAUDE_CONFIG_DIR ?? temporaryHome(env), '.claude.json');
}

function temporaryHome(env: NodeJS.ProcessEnv): string {
  if (!env.HOME || env.HOME === homedir())
    throw new Error(`HOME must be a temporary folder, not ${env.HOME}`);
  return env.HOME;
}

async function readJson(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, 'utf8').catch(() => '{}');
  return JSON.parse(text) as Record<string, unknown>;
}

async function writeJson(file: string, value: object): Promise<void> {
  await writeFile(file, JSON.stringify(value, null, 1), { mode: 0o600 });
}
