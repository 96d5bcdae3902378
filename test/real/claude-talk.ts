import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { claudeEnv } from './claude-home.ts';
import type { ClaudeModel } from './claude-model.ts';
import { lastUserText } from './claude-request.ts';
import { type PublishedRow, rowsOf } from './claude-row.ts';
import { ClaudeSession } from './claude-session.ts';
import { final, type Step, script } from './model-script.ts';
import { poll } from './poll.ts';
import { claudeBinary } from './programs.ts';
import type { World } from './temp.ts';

/** A message of another session as Claude's model is shown it. */
export interface Shown {
  /** The socket path after `uds:`. */
  readonly socketPath: string;
  readonly name: string;
  readonly mode: string;
  /** What its screen shows of it. */
  readonly firstLine: string;
  readonly body: string;
  /** The process that wrote it, as Claude Code found it in the kernel. */
  readonly verifiedPid: number;
}

const ENVELOPE =
  /<cross-session-message from="uds:(?<socketPath>[^"]+)" from-name="(?<name>[^"]+)" from-mode="(?<mode>\w+)">\n(?<body>[\s\S]*)\n<\/cross-session-message>/;

/** Real Claude Code sessions on one scripted model. */
export class ClaudeTalk {
  readonly #world: World;
  readonly model: ClaudeModel;

  constructor(world: World, model: ClaudeModel) {
    this.#world = world;
    this.model = model;
  }

  /** One at a time: at once they take far longer. */
  async start(name: string, args: readonly string[] = []): Promise<ClaudeSession> {
    const { env, work: cwd } = this.#world;
    return this.#world.own(
      await ClaudeSession.start({ env, modelUrl: this.model.url, name, cwd, args: [...args] }),
    );
  }

  /** The session's model sends a message with its own SendMessage and ends its turn; resolves to the `msg_id`. */
  async brief(session: ClaudeSession, to: string, message: string): Promise<string> {
    session.say(`@@tool SendMessage ${JSON.stringify({ to, message })} @@say sent`);
    const { result } = await session.nextResult();
    const told = this.model.toolResults(session.sessionId).at(-1)?.text ?? '';
    const id = /"msg_id":"([0-9a-f-]{36})"/.exec(told)?.[1];
    if (result !== 'sent' || id === undefined)
      throw new Error(`nothing was sent to ${to}: ${result} ${told}`);
    return id;
  }

  /**
   * What stands in the very next request of an idle session's model, and the end of that turn. Call it before
   * anything can come.
   */
  async nextShown(session: ClaudeSession): Promise<Shown> {
    const { sessionId } = session;
    const isIts = (request: { readonly sessionId: string }) => request.sessionId === sessionId;
    const request = await this.model.waitForRequest(isIts, 15_000, this.model.requests.length);
    const text = lastUserText(request.messages);
    const { socketPath = '', name = '', mode = '', body = '' } = ENVELOPE.exec(text)?.groups ?? {};
    if (name === '') throw new Error(`the next request of ${session.name} held no message:\n${text}`);
    const { origin } = await session.nextResult();
    const verifiedPid = Number((origin as { verifiedPeerPid?: number } | undefined)?.verifiedPeerPid);
    return { socketPath, name, mode, firstLine: body.split('\n')[0] ?? '', body, verifiedPid };
  }

  /** What `claude agents --json` says about the peer of that name. */
  async listed(name: string): Promise<{ readonly [field: string]: unknown } | undefined> {
    const { env, work: cwd } = this.#world;
    const run = promisify(execFile);
    const { stdout } = await run(claudeBinary(), ['agents', '--json'], {
      cwd,
      env: claudeEnv({ env, modelUrl: this.model.url, name: 'agents' }),
    });
    return (JSON.parse(stdout) as { name?: string }[]).find((agent) => agent.name === name);
  }
}

/** The end of a brief whose answer waits for `model.release(key)`. */
export function answered(key: string, answer: string, ...before: readonly Step[]): string {
  return script([[{ hold: key }, ...before, final(answer)]]);
}

/** The published row of that name, which must be there. */
export function rowOf(world: World, name: string): PublishedRow {
  const row = rowsOf(world.env).find((one) => one.name === name);
  if (row === undefined) throw new Error(`nobody has published a row for ${name}`);
  return row;
}

/** Every status the row had one after the other while `during` ran. */
export async function statusesOf(
  world: World,
  name: string,
  during: () => Promise<unknown>,
): Promise<string[]> {
  const seen: string[] = [];
  const look = () => {
    const said = statusOf(world, name);
    if (said !== seen.at(-1)) seen.push(said);
  };
  look();
  const timer = setInterval(look, 5);
  await during().finally(() => clearInterval(timer));
  look();
  return seen;
}

/** Waits until the row has this status, with what it waits for after a colon. */
export async function untilStatus(world: World, name: string, status: string): Promise<void> {
  const said = () => statusOf(world, name);
  await poll(
    () => said() === status,
    10_000,
    () => `the row of ${name} says ${said()}, not ${status}`,
  );
}

function statusOf(world: World, name: string): string {
  const { status, waitingFor } = rowOf(world, name);
  return [status, waitingFor].filter(Boolean).join(': ');
}
