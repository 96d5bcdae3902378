import { forTerminal } from '../os/terminal.ts';

/** What a command may touch of the process that runs it. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadStream & { readonly fd: number };
  readonly stdout: NodeJS.WriteStream & { readonly fd: number };
  readonly stderr: NodeJS.WriteStream;
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
