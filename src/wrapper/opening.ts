import { join } from 'node:path';
import { EXIT, errorMessage, PeerError } from '../errors.ts';
import { openCodexThread } from '../harness/codex.ts';
import { findCodex } from '../harness/codex-binary.ts';
import type { HarnessThread } from '../harness/harness.ts';
import type { Disposer } from '../os/disposer.ts';
import { ensureOwnDir, ensurePrivateDir, homeDir, stateDir } from '../os/folders.ts';
import { type Log, openLog } from '../os/log.ts';
import { loadPeerCredentials } from '../os/peer-credentials.ts';
import { probe } from '../os/probe.ts';
import { pidDomain, processStart } from '../os/proc.ts';
import { tmuxPlace } from '../os/tmux.ts';
import { claimName } from '../registry/contend.ts';
import { newToken } from '../registry/key.ts';
import { checkName } from '../registry/names.ts';
import { type Places, places, socketPath } from '../registry/places.ts';
import { Publication } from '../registry/publish.ts';
import { BRIDGE, type Row } from '../registry/row.ts';
import { sweep } from '../registry/sweep.ts';
import { recordedThread, recordThread } from '../registry/thread-file.ts';
import { TOOLS } from '../tools/definitions.ts';
import { VERSION } from '../version.ts';
import { openControl } from './control.ts';
import type { End } from './end.ts';
import { openRecordOf, stillWaiting } from './opening-record.ts';
import type { OpenOptions } from './options.ts';
import { Peer } from './peer.ts';
import { restoredClaims } from './restore.ts';
import { removeOldTexts } from './spill.ts';
import type { Terminal } from './terminal.ts';
import { noteTools, toolsOf } from './thread-tools.ts';
import { type ToolsWay, toolsWay } from './tools-way.ts';

/** A peer that serves, and what a person is told about it. */
export interface OpenPeer {
  readonly peer: Peer;
  readonly thread: HarnessThread;
  readonly log: Log;
  readonly tools: ToolsWay;
  /** The thread the name had before, when it is another one now. */
  readonly replacedThreadId: string | null;
}

/**
 * Opens a peer: name, thread, socket, and the row last, so that whoever is listed can be messaged. Everything made
 * on the way is undone by `disposer`, the row first: then open messages are settled while the socket still vouches
 * for us, and the pane, the socket, the thread and the key follow.
 */
export async function open(
  options: OpenOptions,
  end: End,
  disposer: Disposer,
  terminal: Terminal,
): Promise<OpenPeer> {
  const { name, env } = options;
  checkName(name);
  loadPeerCredentials();
  const at = places(env);
  const log = startLog(options, disposer);
  removeOldTexts(textsDir(env), Date.now());
  ensureOwnDir(at.sessionsDir);
  await sweep(at.sessionsDir);

  const recorded = recordedThreadFor(options, at);
  const threadId = options.threadId ?? (options.fresh ? null : recorded);
  const token = newToken();
  log.hide(token);
  const publication = await claim(options, threadId, { at, token, log, end, disposer });

  const thread = await openThread(options, threadId, log, end.signal);
  disposer.defer('thread', () => thread.close());
  if (thread.id !== recorded) recordThread(at.threadsDir, name, thread.id);
  if (threadId === null) noteTools(env, thread.id);

  const { record, restored, durability } = await openRecordOf(options, thread.id, log);
  disposer.defer('record', () => record.close());
  const peer = new Peer({
    name,
    record,
    claims: restoredClaims(restored, await stillWaiting(at.sessionsDir), Date.now()),
    onRecordLost: (error) =>
      end.because(`its messages cannot be recorded (${errorMessage(error)})`, EXIT.store),
    thread,
    socketPath: socketPath(at, process.pid),
    token,
    sessionsDir: at.sessionsDir,
    textsDir: textsDir(env),
    log,
    isPaneOpen: () => terminal.isPaneOpen,
    onGone: end.because,
    onHeld: (receiver) => {
      const advice = held(name, receiver);
      log.write('held', { advice });
      terminal.say(advice);
    },
  });
  disposer.defer('socket', () => peer.close());
  disposer.defer('pane', () => terminal.end());
  const control = await openControl(peer, log, (text) => terminal.say(text));
  disposer.defer('control', async () => control?.close());
  await serve(peer, publication, thread, at);
  await peer.resume(restored);
  disposer.defer('open messages', () => peer.settle());
  disposer.defer('row', () => publication.withdrawRow());
  const tools = await toolsWay(thread, toolsOf(env, thread.id), control !== null, log);
  publication.update({ tools, ...(durability === 'store' ? {} : { noStore: durability.none }) });
  log.write('open', { name, threadId: thread.id, pid: process.pid, codex: thread.version, tools });
  return {
    peer,
    thread,
    log,
    tools,
    replacedThreadId: recorded !== null && recorded !== thread.id ? recorded : null,
  };
}

/** Without a file that can be read a name can still be given another thread. */
function recordedThreadFor({ name, fresh, threadId }: OpenOptions, { threadsDir }: Places): string | null {
  try {
    return recordedThread(threadsDir, name);
  } catch (error) {
    if (!fresh && threadId === undefined) throw error;
    return null;
  }
}

interface Claiming {
  readonly at: Places;
  readonly token: string;
  readonly log: Log;
  readonly end: End;
  readonly disposer: Disposer;
}

/** Publishes that the name is being opened, and makes sure that nobody else has it. */
async function claim(
  options: OpenOptions,
  threadId: string | null,
  { at, token, log, end, disposer }: Claiming,
): Promise<Publication> {
  const publication = Publication.open({
    places: at,
    row: openingRow(options, threadId, at),
    token,
    onProblem: (error) => log.write('row-not-written', { error: String(error) }),
  });
  disposer.defer('key', () => publication.withdrawKey());
  await claimName({ sessionsDir: at.sessionsDir, publication, signal: end.signal });
  return publication;
}

function textsDir(env: NodeJS.ProcessEnv): string {
  return join(stateDir(env), 'texts');
}

function startLog({ name, env }: OpenOptions, disposer: Disposer): Log {
  const dir = join(stateDir(env), 'logs');
  ensurePrivateDir(stateDir(env));
  ensurePrivateDir(dir);
  const log = openLog(join(dir, `${name}.log`));
  disposer.defer('log', () => log.close());
  return log;
}

function openThread(
  options: OpenOptions,
  threadId: string | null,
  log: Log,
  signal: AbortSignal,
): Promise<HarnessThread> {
  const { name, env, headless, model, effort, sandbox, approval, cwd, trust } = options;
  const codex = findCodex(env);
  return openCodexThread({
    codexHome: env.CODEX_HOME || join(homeDir(env), '.codex'),
    codexPath: codex?.file ?? null,
    codexVersion: codex?.version ?? null,
    env,
    clientVersion: VERSION,
    name,
    thread:
      threadId === null ? { kind: 'start', cwd: cwd ?? process.cwd() } : { kind: 'resume', id: threadId },
    asked: {
      sandbox,
      approval,
      ...(model === undefined ? {} : { model }),
      ...(effort === undefined ? {} : { effort }),
      ...(cwd === undefined ? {} : { cwd }),
    },
    trust,
    dynamicTools: TOOLS.map((tool) => ({ type: 'function', ...tool })),
    headless,
    log,
    signal,
  });
}

function held(name: string, receiver: string): string {
  const setting = '"crossSessionInbound": "accept"';
  return `An answer of ${name} waits for the person at ${receiver} to approve it. To let answers through there: ${setting} in ~/.claude/settings.json`;
}

/** Binds the socket, makes sure that it answers, and only then offers it in the row. */
async function serve(peer: Peer, publication: Publication, thread: HarnessThread, at: Places): Promise<void> {
  const path = socketPath(at, publication.row.pid);
  await peer.serve();
  if ((await probe(path)) !== 'accepts') {
    throw new PeerError(
      'unsafe-folder',
      `The socket ${path} takes no connections, so nobody could message the peer.`,
    );
  }
  publication.update({
    state: undefined,
    sessionId: thread.id,
    version: thread.version,
    messagingSocketPath: path,
  });
  peer.publish(publication);
}

/** The row without a socket: Claude Code does not list it, another `peer open` of the name sees it. */
function openingRow({ name, env, cwd, detach }: OpenOptions, threadId: string | null, at: Places): Row {
  ensurePrivateDir(at.socketDir);
  const now = Date.now();
  // In the background it is in no pane, wherever it was started from.
  const place = detach ? null : tmuxPlace(env);
  return {
    pid: process.pid,
    ...(threadId === null ? {} : { sessionId: threadId }),
    cwd: cwd ?? process.cwd(),
    startedAt: now,
    procStart: processStart(process.pid) ?? undefined,
    peerProtocol: 1,
    peerFeatures: ['notify_idle', 'reply_across_default_dirs'],
    kind: 'interactive',
    entrypoint: 'peer',
    pidDomain: pidDomain(),
    ...(place === null
      ? {}
      : { tmux: `${place.session}:${place.window}.${place.pane}`, tmuxSocket: place.socket }),
    name,
    nameSource: 'user',
    nameSince: now,
    updatedAt: now,
    status: 'busy',
    statusUpdatedAt: now,
    bridge: BRIDGE,
    state: 'opening',
  };
}
