import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFailed, onTestFinished, TestRunner } from 'vitest';
import { endDaemon } from './daemon-end.ts';
import { logTails } from './log-tails.ts';
import { endProcesses, type FoundProcess, processesWithHome } from './processes.ts';
import { binFolder } from './programs.ts';

/** Something a world owns: ended with it, and asked what it saw when the test fails. */
export interface Owned extends AsyncDisposable {
  evidence?(): string | Promise<string>;
}

/**
 * A person's account of its own in one temporary folder: every folder that Codex, Claude Code, tmux and `peer`
 * take from the environment lies in it. Disposing ends what it owns, newest first, then every process that
 * still runs under its HOME, and removes the folder. Paths are short, since a unix socket's may have 103 bytes.
 */
export class World implements AsyncDisposable {
  readonly root = mkdtempSync(join(realpathSync('/tmp'), 'pw-'));
  readonly home = this.#folder('home');
  readonly codexHome = this.#folder('codex');
  readonly claudeDir = this.#folder('claude');
  readonly runtimeDir = this.#folder('run');
  readonly stateDir = this.#folder('state');
  /** A git repository, the cwd of peers and sessions. */
  readonly work = this.#folder('work');
  /** The whole environment for a child: nothing of the developer's own gets in. Tests may change it. */
  readonly env: NodeJS.ProcessEnv = {
    HOME: this.home,
    CODEX_HOME: this.codexHome,
    CLAUDE_CONFIG_DIR: this.claudeDir,
    XDG_RUNTIME_DIR: this.runtimeDir,
    XDG_STATE_HOME: this.stateDir,
    TMPDIR: this.#folder('tmp'),
    TMUX_TMPDIR: this.runtimeDir,
    PATH: `${binFolder}:${process.env.PATH}`,
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    SHELL: '/bin/sh',
    USER: 'tester',
    // Nothing listens there: what a program wants from the internet fails at once, loopback is reached directly.
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
  };

  readonly #owned: Owned[] = [];
  #lastWords: string | undefined;
  #end: Promise<void> | undefined;

  constructor() {
    execFileSync('git', ['init', '-q', this.work], { env: this.env });
  }

  /** Takes over the end of `resource`, and its evidence. */
  own<T extends Owned>(resource: T): T {
    this.#owned.push(resource);
    return resource;
  }

  /** Processes that run with this world's HOME, whoever started them. Linux only; elsewhere always empty. */
  processes(): FoundProcess[] {
    return processesWithHome(this.home);
  }

  /** Panes, model requests, logs: what the owned resources say now, or said before they were ended. */
  async evidence(): Promise<string> {
    return this.#lastWords ?? this.#gatherEvidence();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#end ??= this.#endAll();
    return this.#end;
  }

  async #endAll(): Promise<void> {
    this.#lastWords = await this.#gatherEvidence();
    const failures: unknown[] = [];
    for (const resource of this.#owned.splice(0).reverse()) {
      try {
        await resource[Symbol.asyncDispose]();
      } catch (error) {
        failures.push(error);
      }
    }
    await endDaemon(this.codexHome);
    await endProcesses(this.processes());
    await rm(this.root, { recursive: true, force: true, maxRetries: 5 });
    if (failures.length > 0) throw new AggregateError(failures, 'the test world could not be ended');
  }

  async #gatherEvidence(): Promise<string> {
    const parts = this.#owned.map(async (resource) => {
      const said = (await resource.evidence?.()) ?? '';
      return said && `── ${resource.constructor.name}\n${said}`;
    });
    return [...(await Promise.all(parts)), logTails(this.stateDir)].filter(Boolean).join('\n');
  }

  #folder(name: string): string {
    const folder = join(this.root, name);
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  }
}

/**
 * A new world. Inside a test its evidence is printed when the test fails, and it is ended even when the test runs
 * into its time limit, where `await using` never gets to its end.
 */
export function openWorld(): World {
  const world = new World();
  if (TestRunner.getCurrentTest()) {
    printWhenFailed(world);
    onTestFinished(() => world[Symbol.asyncDispose]());
  }
  return world;
}

/** For a world that several tests share: call it in each of them. */
export function printWhenFailed(world: World): void {
  onTestFailed(async () => console.error(await world.evidence()));
}
