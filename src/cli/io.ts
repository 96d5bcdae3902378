import { errorCode } from '../errors.ts';
import { forTerminal } from '../os/terminal.ts';

/** What a command may touch of the process that runs it. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream & { readonly fd: number };
  readonly stdout: NodeJS.WriteStream & { readonly fd: number };
  readonly stderr: NodeJS.WriteStream;
}

/** The process's own streams. Node makes each when it is first touched, which costs up to 4 ms. */
export class ProcessIo implements Io {
  readonly #outputs = new Set<NodeJS.WriteStream>();

  get env(): NodeJS.ProcessEnv {
    return process.env;
  }

  get stdin(): Io['stdin'] {
    return process.stdin;
  }

  get stdout(): Io['stdout'] {
    return this.#output(process.stdout);
  }

  get stderr(): NodeJS.WriteStream {
    return this.#output(process.stderr);
  }

  /** Resolves when the system has taken all that was written. */
  async written(): Promise<void> {
    const streams = [...this.#outputs].filter((stream) => stream.writable);
    await Promise.all(streams.map((stream) => new Promise((resolve) => stream.write('', resolve))));
  }

  #output<T extends NodeJS.WriteStream>(stream: T): T {
    if (!this.#outputs.has(stream)) stream.on('error', onOutputError);
    this.#outputs.add(stream);
    return stream;
  }
}

/** Whoever read our output is gone (`peer list | head -1`, a closed window): the command goes on in silence. */
function onOutputError(error: Error): void {
  const code = errorCode(error);
  if (code !== 'EPIPE' && code !== 'EIO') throw error;
}

/** Writes `text` and a newline: as it is into a pipe or file, control characters made visible on a terminal. */
export function print(stream: NodeJS.WriteStream, text: string): void {
  const shown = stream.isTTY ? linesForTerminal(text) : text;
  stream.write(shown.endsWith('\n') ? shown : `${shown}\n`);
}

/** Says something on stderr, after our own name; control characters are always made visible. */
export function say(io: Io, text: string): void {
  io.stderr.write(`peer: ${linesForTerminal(text)}\n`);
}

/** Makes a text of several lines safe for a terminal: line feeds and tabs stay, all else unsafe is made visible. */
export function linesForTerminal(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split(/([\n\t])/)
    .map((part) => (part === '\n' || part === '\t' ? part : forTerminal(part)))
    .join('');
}
