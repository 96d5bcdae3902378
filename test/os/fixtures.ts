import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { processState } from '../../src/os/proc.ts';

export interface TempFolder extends Disposable {
  readonly path: string;
}

/** A new 0700 folder with a short path, since a socket's may have 103 bytes. */
export function tempFolder(): TempFolder {
  const path = mkdtempSync('/tmp/pt-');
  chmodSync(path, 0o700);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export interface Child extends AsyncDisposable {
  readonly pid: number;
  readonly process: ChildProcess;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/**
 * A real child process; killed and waited for at the end. Tests give it something that ends by itself within a
 * minute, so that nothing stays when a run is broken off.
 */
export async function child(command: string, ...args: string[]): Promise<Child> {
  const process = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(process, 'spawn');
  const ended = once(process, 'exit');
  const kill = async (signal: NodeJS.Signals) => {
    process.kill(signal);
    await ended;
  };
  return { pid: process.pid!, process, kill, [Symbol.asyncDispose]: () => kill('SIGKILL') };
}

export function sleeper(): Promise<Child> {
  return child('sleep', '60');
}

export interface Zombie extends AsyncDisposable {
  readonly pid: number;
}

/** A process that has ended and was not waited for. */
export async function zombie(): Promise<Zombie> {
  const parent = await child('sh', '-c', 'sleep 0 & echo $!; exec sleep 60');
  const [output] = await once(parent.process.stdout!, 'data');
  const pid = Number(String(output).trim());
  await until(() => processState(pid) === 'Z');
  return { pid, [Symbol.asyncDispose]: () => parent[Symbol.asyncDispose]() };
}

/** The pid of a process that has ended and was waited for. */
export async function deadPid(): Promise<number> {
  await using dead = await child('true');
  return dead.pid;
}

export interface Listener extends AsyncDisposable {
  readonly server: Server;
  /** All that was received, one entry per connection that ended. */
  readonly received: string[];
}

/** A real listening socket. */
export async function listen(path: string): Promise<Listener> {
  const received: string[] = [];
  const server = createServer((socket) => {
    let text = '';
    socket.on('data', (data) => {
      text += data;
    });
    socket.on('error', () => {});
    socket.on('close', () => received.push(text));
    socket.on('end', () => socket.end());
  });
  server.listen(path);
  await once(server, 'listening');
  const close = async () => {
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  return { server, received, [Symbol.asyncDispose]: close };
}

/** Leaves a socket file on which nobody listens, as a killed process does. */
export async function deadSocket(path: string): Promise<void> {
  const code = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('up')); setTimeout(process.exit, 60_000)`;
  await using owner = await child(process.execPath, '-e', code);
  await once(owner.process.stdout!, 'data');
}

export async function until(isTrue: () => boolean, limitMs = 5_000): Promise<void> {
  for (const end = Date.now() + limitMs; !isTrue(); await sleep(5)) {
    if (Date.now() > end) throw new Error(`not within ${limitMs} ms: ${isTrue}`);
  }
}
