import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function sessionsFolder(env) {
  return join(env.CLAUDE_CONFIG_DIR ?? join(env.HOME, '.claude'), 'sessions');
}

export function socketFolder(env) {
  return join(env.XDG_RUNTIME_DIR ?? env.CLAUDE_CODE_TMPDIR ?? env.TMPDIR ?? '/tmp', 'cc-socks');
}

/** The row that a session of Claude Code 2.1.332 in this process would publish. */
export function rowOfThisProcess(name, socketPath) {
  const now = Date.now();
  return {
    pid: process.pid,
    sessionId: randomUUID(),
    cwd: process.cwd(),
    startedAt: now,
    procStart: procStart(),
    version: '2.1.332',
    peerProtocol: 1,
    peerFeatures: ['notify_idle', 'reply_across_default_dirs'],
    kind: 'interactive',
    entrypoint: 'cli',
    pidDomain: pidDomain(),
    messagingSocketPath: socketPath,
    name,
    nameSource: 'user',
    nameSince: now,
    updatedAt: now,
    status: 'idle',
    statusUpdatedAt: now,
  };
}

/** Socket path of another process's peer; throws when no row has the name. */
export function socketOf(env, name) {
  const folder = sessionsFolder(env);
  const files = readdirSync(folder).filter((file) => /^\d+\.json$/.test(file));
  const rows = files.flatMap((file) => readJson(join(folder, file)) ?? []);
  const row = rows.find((each) => each.name === name && each.pid !== process.pid);
  if (!row?.messagingSocketPath) throw new Error(`no peer named ${name} in the registry`);
  return row.messagingSocketPath;
}

/** The token a sender to this socket authenticates with; null without a key file. */
export function tokenOf(env, socketPath) {
  const folder = sessionsFolder(env);
  const file = readdirSync(folder).find((each) => each.endsWith(`.${hashOf(socketPath)}.key`));
  return file ? (readJson(join(folder, file))?.peerToken ?? null) : null;
}

export function rowFile(env) {
  return join(sessionsFolder(env), `${process.pid}.json`);
}

export function keyFile(env, socketPath) {
  return join(sessionsFolder(env), `${process.pid}.${hashOf(socketPath)}.key`);
}

export function writeAtomic(file, value) {
  const temporary = `${file}.tmp.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(value), { mode: 0o600 });
  renameSync(temporary, file);
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

function hashOf(socketPath) {
  return createHash('sha256').update(socketPath).digest('hex');
}

/** Field 22 of the process's stat line, counted from behind its name. */
function procStart() {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

function pidDomain() {
  return `linux:${readFileSync('/etc/machine-id', 'utf8').trim()}:${readlinkSync('/proc/self/ns/pid')}`;
}
