import { spawn } from 'node:child_process';
import { homedir } from 'node:os';
import * as z from 'zod/mini';
import { errorCode, errorMessage, PeerError } from '../errors.ts';
import { LIMITS } from '../limits.ts';

const startReport = z.looseObject({
  status: z.string(),
  cliVersion: z.optional(z.string()),
  appServerVersion: z.optional(z.string()),
});

/** What `codex app-server daemon start` prints: `started`, or `alreadyRunning` (also while it drains). */
export type StartReport = z.infer<typeof startReport>;

/** What a daemon must not inherit: it serves every client of this user, and lives longer than we do. */
const OURS_ALONE = /^(CLAUDE.*|AI_AGENT|CODEX_THREAD_ID|CODEX_SESSION_ID|CODEX_TOOL_CALL_ID|TMUX.*|STY)$/;

/** The environment for the daemon: `env` without what belongs to one agent or one terminal. */
export function daemonEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OURS_ALONE.test(name)));
}

/**
 * Runs `codex app-server daemon start`. The first start in a CODEX_HOME copies 424 MB and takes 8 s, later
 * ones below 1 s (Codex 0.171.0). Rejects with PeerError `codex-not-found` or `daemon-unreachable`.
 */
export async function startDaemon(codexPath: string | null, env: NodeJS.ProcessEnv): Promise<StartReport> {
  if (codexPath === null) throw codexNotFound();
  const { stdout, stderr, exitCode } = await run(codexPath, env);
  const report = startReport.safeParse(lastJsonLine(stdout));
  if (exitCode === 0 && report.success) return report.data;
  throw cannotStart(failureReason(stderr) ?? `exit code ${exitCode}`);
}

export function codexNotFound(): PeerError {
  return new PeerError(
    'codex-not-found',
    'No `codex` command was found on PATH, so no Codex session can be opened. Install it (`npm install -g @openai/codex`), then try again.',
  );
}

interface Finished {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

function run(codexPath: string, env: NodeJS.ProcessEnv): Promise<Finished> {
  const child = spawn(codexPath, ['app-server', 'daemon', 'start'], {
    cwd: env.HOME ?? homedir(),
    env: daemonEnv(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMITS.daemonStartMs,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', (error) => {
      reject(errorCode(error) === 'ENOENT' ? codexNotFound() : cannotStart(errorMessage(error)));
    });
    child.on('close', (exitCode) => resolve({ stdout, stderr, exitCode }));
  });
}

function cannotStart(reason: string): PeerError {
  return new PeerError(
    'daemon-unreachable',
    `The Codex daemon cannot be started: ${reason}. Nothing was opened. Try \`codex app-server daemon start\` in a shell.`,
  );
}

function lastJsonLine(stdout: string): unknown {
  const lines = stdout.trim().split('\n');
  try {
    return JSON.parse(lines.at(-1) ?? '');
  } catch {
    return null;
  }
}

/** stderr also carries telemetry lines in JSON. */
function failureReason(stderr: string): string | null {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('{'));
  const first = lines.find((line) => line.startsWith('Error:')) ?? lines.at(-1);
  return first?.replace(/^Error:\s*/, '').trim() ?? null;
}
