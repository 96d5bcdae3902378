import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { PeerError } from '../../src/errors.ts';
import { openPane } from '../../src/wrapper/pane.ts';
import { PaneKeeper } from '../../src/wrapper/pane-keeper.ts';
import type { DriverSpec } from './pane-bench.ts';

// A wrapper that is nothing but its pane: one JSON line per event in a report file, SIGUSR2 ends the pane.
const spec = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as DriverSpec;

function report(event: string, fields: object = {}): void {
  appendFileSync(spec.report, `${JSON.stringify({ event, ...fields })}\n`);
}

const command = { file: spec.file, args: spec.args, cwd: spec.cwd, env: { ...process.env, ...spec.env } };
const open = () =>
  openPane(command, { stdin: process.stdin, stdout: process.stdout, log: { write: report } });

async function runPane(): Promise<void> {
  const pane = await open();
  process.on('SIGUSR2', () => void pane.end().then(() => report('ended')));
  report('opened', { tui: pane.pid, wrapper: process.pid });
  // What a program that we start now holds open.
  report('inherited', { files: execFileSync('ls', ['-l', '/proc/self/fd'], { encoding: 'utf8' }) });
  report('exited', await pane.exited);
}

async function runKeeper(): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    PaneKeeper.open({
      open,
      log: { write: report },
      wait: async () => {},
      onClosed: () => {
        report('closed');
        resolve();
      },
      onHeadless: (reason) => {
        report('headless', { reason });
        resolve();
      },
    }).then(() => report('opened', { wrapper: process.pid }), reject);
  });
}

if (spec.survivesHangup) process.on('SIGHUP', () => {});
const ticking = setInterval(() => report('tick'), 50);
try {
  await (spec.isKept ? runKeeper() : runPane());
  if (spec.says) console.log(spec.says);
  if (spec.isLasting) await new Promise(() => {});
} catch (error) {
  report(
    'failed',
    error instanceof PeerError ? { word: error.word, message: error.message } : { message: String(error) },
  );
  process.exitCode = 1;
} finally {
  clearInterval(ticking);
  process.stdin.destroy();
}
