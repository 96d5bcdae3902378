import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InboundControl, InboundMessage } from '../../src/frames/message.ts';
import { type Connected, type FrameServer, type ServeOptions, serveFrames } from '../../src/frames/serve.ts';

export const TOKEN = '0123456789abcdef0123456789abcdef';
export const AUTH = `${JSON.stringify({ type: 'auth', token: TOKEN })}\n`;

export interface ServedFolder extends AsyncDisposable {
  readonly folder: string;
  readonly socketPath: string;
  readonly server: FrameServer;
  /** What the handlers got, in order: `message:<text>`, `refused:<text>`, `control:<action>`, `too-long:<id>`. */
  readonly got: string[];
  readonly messages: InboundMessage[];
  readonly controls: InboundControl[];
  readonly logged: string[];
}

/** A frame server in a folder of its own; `onText` runs inside the handler of a message. */
export async function serveFolder(
  options: Partial<ServeOptions<Connected>> & { onText?: (text: string) => Promise<void> | void } = {},
): Promise<ServedFolder> {
  const folder = mkdtempSync(join(tmpdir(), 'peer-frames-'));
  const socketPath = join(folder, '4242.sock');
  const got: string[] = [];
  const messages: InboundMessage[] = [];
  const controls: InboundControl[] = [];
  const logged: string[] = [];
  const server = await serveFrames<Connected>({
    socketPath,
    token: TOKEN,
    log: { write: (event) => logged.push(event) },
    onMessage: async (message) => {
      await options.onText?.(message.text);
      messages.push(message);
      got.push(`message:${message.text}`);
    },
    onControl: (control) => {
      controls.push(control);
      got.push(`control:${control.action}`);
    },
    onRefused: (message) => {
      got.push(`refused:${message.text}`);
    },
    onTooLong: (msgId) => {
      got.push(`too-long:${msgId}`);
    },
    ...options,
  }).catch((error: unknown) => {
    rmSync(folder, { recursive: true });
    throw error;
  });
  const dispose = async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { folder, socketPath, server, got, messages, controls, logged, [Symbol.asyncDispose]: dispose };
}

export function line(content: string, fields: Record<string, unknown> = {}): string {
  return `${JSON.stringify({ msgV: 1, type: 'user', message: { role: 'user', content }, ...fields })}\n`;
}

/** How a raw connection ended: what came back, and the error code or null. */
export interface End {
  readonly bytes: number;
  readonly code: string | null;
}

/** A sender that does as it likes; `ended` resolves when its connection is closed. */
export function rawSender(socketPath: string): { readonly socket: Socket; readonly ended: Promise<End> } {
  const socket = connect({ path: socketPath, allowHalfOpen: true });
  let bytes = 0;
  let code: string | null = null;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    code = error.code ?? error.message;
  });
  socket.once('end', () => socket.end());
  const ended = new Promise<End>((resolve) => {
    socket.once('close', () => resolve({ bytes, code }));
  });
  return { socket, ended };
}

/** Writes everything at once with EOF, as Claude Code does. */
export function writeAll(socketPath: string, text: string | Buffer): Promise<End> {
  const { socket, ended } = rawSender(socketPath);
  socket.end(text);
  return ended;
}

/** A promise and the function that resolves it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
