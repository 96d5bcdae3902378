import { dirname, resolve } from 'node:path';
import { startDemoModel } from '../demo/model.ts';
import { setStage, startOn } from '../demo/stage.ts';
import { EXIT, PeerError } from '../errors.ts';
import { type CodexBinary, findCodex } from '../harness/codex-binary.ts';
import { Disposer } from '../os/disposer.ts';
import { type Io, print, say } from './io.ts';

const BRIEF = 'The build is green on main. Which file would you look at first?';

/**
 * The main job from beginning to end: the real Codex on a scripted model, in a throw-away home, with no account and
 * no network. Leaves nothing behind.
 *
 * @throws PeerError `codex-not-found`, `daemon-unreachable`, `internal`
 */
export async function demo(options: { readonly codex?: string }, io: Io): Promise<number> {
  const disposer = new Disposer();
  let isInterrupted = false;
  const stop = () => {
    isInterrupted = true;
    void disposer.run();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  try {
    await play(options.codex, io, disposer);
  } catch (error) {
    if (!isInterrupted) throw error;
  } finally {
    for (const error of await disposer.run()) say(io, error.message);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
  }
  if (isInterrupted) return EXIT.interrupted;
  print(io.stdout, '\nNothing of it is left. With your own Codex: peer open Sol');
  return EXIT.ok;
}

async function play(codexPath: string | undefined, io: Io, disposer: Disposer): Promise<void> {
  const codex = codexFor(codexPath, io.env);
  print(io.stdout, `The real Codex ${codex.version ?? ''} on a scripted model, in a throw-away home.`);

  let userItem = '';
  const model = await startDemoModel((text) => {
    userItem = text;
    return 'I would look at README.md first: what a project promises tells where to look for the rest.';
  });
  disposer.defer('model', () => model[Symbol.asyncDispose]());
  const stage = await setStage(codex.file, model.baseUrl, io.env, disposer);
  const start = (...args: string[]) => startOn(stage, disposer, process.execPath, [peerScript(), ...args]);
  const run = async (...args: string[]) => {
    print(io.stdout, `\n$ peer ${args.map(quoted).join(' ')}`);
    const { stdout, stderr, exitCode } = await start(...args);
    if (exitCode !== EXIT.ok)
      throw new PeerError('internal', `The demo failed at \`peer ${args[0]}\`: ${stderr}`);
    return String(stdout);
  };

  print(io.stdout, '\n$ peer open Sol --headless');
  const sol = start('open', 'Sol', '--headless');
  print(io.stdout, indented(await firstLine(sol)));
  print(io.stdout, indented(await run('list')));
  const answer = await run('ask', 'Sol', BRIEF);
  print(
    io.stdout,
    `  Sol's thread got this user item, and a turn of its own for it:\n${indented(userItem, '    ')}`,
  );
  print(
    io.stdout,
    `  Its final answer came back to the socket of \`peer ask\`, which prints:\n${indented(answer, '    ')}`,
  );
  print(io.stdout, indented(await run('close', 'Sol')));
  await sol;
}

function codexFor(path: string | undefined, env: NodeJS.ProcessEnv): CodexBinary {
  const found = findCodex(path === undefined ? env : { PATH: dirname(resolve(path)) });
  if (found !== null) return found;
  const where = path === undefined ? 'on PATH' : `at ${path}`;
  const remedy = 'Install it (npm install -g @openai/codex) and run the demo again.';
  throw new PeerError(
    'codex-not-found',
    `The demo runs the real Codex, and there is none ${where}. ${remedy}`,
  );
}

/** What this process runs, so that the demo shows the very same program. */
function peerScript(): string {
  const script = process.argv[1];
  if (script === undefined) throw new PeerError('internal', 'The demo does not know its own script.');
  return script;
}

type Child = ReturnType<typeof startOn>;

async function firstLine(child: Child): Promise<string> {
  const lines = child.iterable()[Symbol.asyncIterator]();
  const { value, done } = await lines.next();
  if (done) throw new PeerError('internal', `Sol did not open: ${String((await child).stderr)}`);
  return String(value);
}

function indented(text: string, by = '  '): string {
  return text.trimEnd().replace(/^/gm, by);
}

function quoted(word: string): string {
  return /\s/.test(word) ? `"${word}"` : word;
}
