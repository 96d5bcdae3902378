import { PeerError } from '../errors.ts';
import { oneLine } from '../os/terminal.ts';

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,62}[A-Za-z0-9._-])?$/;

/**
 * Makes sure that a name can be a peer's: it stands in file names, tmux titles and Claude's envelope, whose
 * grammar does not read a name with blanks at its ends.
 * @throws PeerError `bad-name`
 */
export function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw new PeerError(
    'bad-name',
    `"${oneLine(name, 80)}" cannot be a peer's name. Use 1 to 64 letters, digits, blanks and . _ - ` +
      '(ASCII), beginning with a letter or digit and not ending with a blank.',
  );
}

/** Names are compared without case, as Claude Code does. */
export function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
