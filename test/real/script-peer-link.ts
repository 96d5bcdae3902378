import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PeerCore } from './script-peer-core.mjs';
import type { ChildMessage, PeerEvent, PeerMethod, PeerOptions } from './script-peer-types.ts';

const CHILD = fileURLToPath(new URL('script-peer-child.mjs', import.meta.url));

/** The way to a scripted peer: the same calls whether it runs here or in a process of its own. */
export interface Link {
  call<R>(method: PeerMethod, params: object): Promise<R>;
  close(): Promise<void>;
  kill(): Promise<void>;
}

/** A peer in this process. */
export function linkHere(
  env: NodeJS.ProcessEnv,
  options: PeerOptions,
  tell: (event: PeerEvent) => void,
): Link {
  const core = new PeerCore(env, options, tell);
  return {
    call: async <R>(method: PeerMethod, params: object) => (await core[method](params)) as R,
    close: () => core.withdraw(),
    kill: async () => {
      throw new Error('this peer is the test process itself; use ScriptPeer.spawn');
    },
  };
}

/** A peer in a process of its own, one JSON line per call, result and event. */
export function linkChild(
  env: NodeJS.ProcessEnv,
  options: PeerOptions,
  tell: (event: PeerEvent) => void,
): Link {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(options)], { env });
  const calls = new PendingCalls();
  const exited = once(child, 'exit').then(() =>
    calls.fail(new Error(`the peer ${options.name} ended: ${stderr}`)),
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as ChildMessage;
    if ('event' in message) tell(message.event);
    else calls.settle(message);
  });
  return {
    call: <R>(method: PeerMethod, params: object) =>
      calls.add<R>((id) => child.stdin.write(`${JSON.stringify({ id, method, params })}\n`)),
    close: () => end(child, exited),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Lets the child take its files away, a stopped one too; one that cannot is killed. */
async function end(child: ChildProcessWithoutNullStreams, exited: Promise<void>): Promise<void> {
  child.stdin.end();
  child.kill('SIGCONT');
  await Promise.race([exited, sleep(2_000, undefined, { ref: false })]);
  child.kill('SIGKILL');
  await exited;
}

class PendingCalls {
  readonly #pending = new Map<
    number,
    { resolve: (result: unknown) => void; reject: (error: Error) => void }
  >();
  #last = 0;
  #failure: Error | null = null;

  add<R>(write: (id: number) => void): Promise<R> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#pending.set(id, { resolve: (result) => resolve(result as R), reject });
      write(id);
    });
  }

  settle(message: Exclude<ChildMessage, { event: PeerEvent }>): void {
    const call = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if ('error' in message) call?.reject(new Error(message.error));
    else call?.resolve(message.result);
  }

  fail(error: Error): void {
    this.#failure = error;
    for (const call of this.#pending.values()) call.reject(error);
    this.#pending.clear();
  }
}
