import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type ControlHandlers, serveControl } from '../../src/control/server.ts';
import { type TempFolder, tempFolder } from '../os/fixtures.ts';

export const STATUS = { name: 'Sol', threadId: 't1', state: 'serving', queued: 0, claims: 0, refused: 0 };

export interface Served extends AsyncDisposable {
  readonly folder: TempFolder;
  readonly socketPath: string;
  /** Events of the log, in order. */
  readonly logged: string[];
  close(): Promise<void>;
}

/** A control socket in a folder of its own; `tool` answers with the tool's name unless told otherwise. */
export async function serve(handlers: Partial<ControlHandlers> = {}): Promise<Served> {
  const folder = tempFolder();
  const socketPath = join(folder.path, '4242.sock');
  const logged: string[] = [];
  const server = await serveControl({
    socketPath,
    log: { write: (event) => logged.push(event) },
    handlers: {
      status: () => STATUS,
      tool: async ({ tool }) => ({ text: `did ${tool}`, success: true }),
      ...handlers,
    },
  });
  const dispose = async () => {
    await server.close();
    folder[Symbol.dispose]();
  };
  return { folder, socketPath, logged, close: () => server.close(), [Symbol.asyncDispose]: dispose };
}

/** A client that writes what it likes. */
export class RawControl implements Disposable {
  readonly socket: Socket;
  readonly #closed: Promise<unknown>;
  #text = '';

  constructor(socketPath: string) {
    this.socket = connect(socketPath);
    this.socket.on('error', () => {});
    this.socket.on('data', (chunk) => {
      this.#text += chunk;
    });
    this.#closed = new Promise((resolve) => this.socket.once('close', resolve));
  }

  get answers(): unknown[] {
    return (
      this.#text
        .split('\n')
        // What stands behind the last newline is still on its way.
        .slice(0, -1)
        .map((line) => JSON.parse(line))
    );
  }

  write(...requests: (object | string)[]): void {
    for (const request of requests) {
      this.socket.write(typeof request === 'string' ? request : `${JSON.stringify(request)}\n`);
    }
  }

  /** Resolves when the server has ended the connection. */
  async ended(): Promise<void> {
    await this.#closed;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}

/** A tool call that never ends by itself; `abandoned` resolves when its caller has given up. */
export function endlessTool() {
  const calls: string[] = [];
  let abandon = () => {};
  const abandoned = new Promise<void>((resolve) => {
    abandon = resolve;
  });
  const tool: ControlHandlers['tool'] = ({ tool: name }, signal) => {
    calls.push(name);
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        abandon();
        reject(new Error('abandoned'));
      });
    });
  };
  return { calls, abandoned, tool };
}
