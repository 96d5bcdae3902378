import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { EXIT } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { route } from './route.ts';
import { createServer } from './server.ts';

export interface McpIo {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable;
  readonly stdout: Writable;
}

const PARENT_POLL_MS = 1_000;
const SIGNALS = ['SIGHUP', 'SIGTERM', 'SIGINT'] as const;

/**
 * Serves the peer's tools over stdio until the client is gone: stdin ends, stdout breaks, SIGHUP, SIGTERM or SIGINT
 * comes, or another process is our parent. Nothing but MCP is written to stdout. Resolves with the exit code.
 */
export async function serveMcp({ env, stdin, stdout }: McpIo): Promise<number> {
  const gone = clientGone(stdin, stdout);
  const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: LIMITS.controlLineChars });
  const served = serveStdio(() => createServer((call) => route(call, env)), { transport });
  await gone;
  // Abandons every open call, here and at the wrapper.
  await served.close();
  return EXIT.ok;
}

/** Resolves when nobody can read an answer any more. */
function clientGone(stdin: Readable, stdout: Writable): Promise<void> {
  const parent = process.ppid;
  return new Promise((resolve) => {
    const end = () => {
      clearInterval(poll);
      for (const signal of SIGNALS) process.off(signal, end);
      resolve();
    };
    const poll = setInterval(() => {
      if (process.ppid !== parent) end();
    }, PARENT_POLL_MS).unref();
    for (const event of ['end', 'close', 'error']) stdin.once(event, end);
    for (const event of ['close', 'error']) stdout.once(event, end);
    for (const signal of SIGNALS) process.once(signal, end);
  });
}
