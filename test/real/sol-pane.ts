import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { rowsOf, waitForRow } from './claude-row.ts';
import type { Pane } from './pane.ts';
import { peerCommand } from './peer-process.ts';
import { poll } from './poll.ts';
import type { ScriptPeer } from './script-peer.ts';
import { bodyOf, markOf, type Sol } from './sol.ts';
import type { World } from './temp.ts';
import type { Tmux } from './tmux.ts';

/** A peer whose TUI runs in a pane of a private tmux. */
export interface PaneSol extends Pick<Sol, 'name' | 'threadId'> {
  readonly pane: Pane;
  /** The wrapper. */
  readonly pid: number;
  readonly socketPath: string;
}

/** The last line of a shell that waits. */
export const PROMPT = /^[#$]\s*$/m;

/** A shell with job control, with the world's own PATH: a login shell would set another. */
export async function openShell(tmux: Tmux): Promise<Pane> {
  const shell = await tmux.open({ command: ['/bin/sh'], remainOnExit: false });
  await shell.waitFor(PROMPT);
  return shell;
}

/** Puts the built `peer`, or the one of another argv, on the world's PATH: a person types no paths. */
export function installPeer(world: World, argv: readonly string[] = peerCommand): void {
  const folder = join(world.root, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'peer'), `#!/bin/sh\nexec ${argv.join(' ')} "$@"\n`);
  chmodSync(join(folder, 'peer'), 0o755);
  world.env.PATH = [folder, world.env.PATH].join(delimiter);
}

/** Waits until the peer that was opened in `pane` serves and its TUI shows the thread. */
export async function paneSol(world: World, pane: Pane, name: string): Promise<PaneSol> {
  const isOpen = new RegExp(`^› Ask Codex to do anything\\n[\\s\\S]*· ${name}$`, 'm');
  await pane.waitFor(isOpen, 30_000);
  const published = await waitForRow(
    world.env,
    (row) => row.name === name,
    5_000,
    () => `no row of ${name}`,
  );
  const { pid, sessionId: threadId, messagingSocketPath: socketPath = '' } = published;
  return { name, pane, pid, threadId, socketPath };
}

/** Types a line into the TUI; with Enter when it is shown, since Codex takes one right behind text for pasted. */
export async function typeLine(pane: Pane, line: string): Promise<void> {
  await pane.type(line);
  await pane.waitFor(new RegExp(`^› ${literally(line.slice(0, 20))}`, 'm'));
  await sleep(200);
  await pane.keys('Enter');
}

/** A regular expression's source that matches exactly this. */
export function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The native TUI on this thread, null while none runs. */
export function tuiOf(world: World, { threadId }: Pick<PaneSol, 'threadId'>): number | null {
  const isTui = (command: string) => command.includes('--remote') && command.includes(threadId);
  return world.processes().find(({ command }) => isTui(command))?.pid ?? null;
}

/** What a closed peer has left behind, as sentences; empty when nothing. `before` are the pids that may stay. */
function leftBy(world: World, sol: PaneSol, before: ReadonlySet<number>): string[] {
  const processes = world.processes().filter(({ pid }) => !before.has(pid));
  const files = readdirSync(join(world.claudeDir, 'sessions')).filter((file) =>
    file.startsWith(`${sol.pid}.`),
  );
  const rows = rowsOf(world.env).filter(({ name }) => name === sol.name);
  return [
    ...processes.map(({ pid, command }) => `process ${pid}: ${command}`),
    ...files.map((file) => `file ${file}`),
    ...rows.map(({ pid }) => `row of ${pid}`),
    ...(existsSync(sol.socketPath) ? [`socket ${sol.socketPath}`] : []),
  ];
}

/** Waits until nothing is left of a peer. */
export async function untilGone(world: World, sol: PaneSol, before: ReadonlySet<number>): Promise<void> {
  await poll(
    () => leftBy(world, sol, before).length === 0,
    10_000,
    () => `${sol.name} left behind:\n${leftBy(world, sol, before).join('\n')}`,
  );
}

/** All that a sender was told about a message: `<kind> <outcome>` and the first line of each. */
export function toldAbout(sender: ScriptPeer, msgId: string): string[] {
  const about = sender.messages.filter((frame) => markOf(frame).in_reply_to === msgId);
  return about.map((frame) => `${markOf(frame).outcome}: ${bodyOf(frame).split('\n', 1)}`);
}
