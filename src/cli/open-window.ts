import { EXIT } from '../errors.ts';
import type { OpenOptions } from '../wrapper/options.ts';
import { openWindow } from '../wrapper/window.ts';
import { type Io, print } from './io.ts';
import { openAgain } from './open-again.ts';

/** Opens the peer in a tmux window of its own and says where; what goes wrong there is shown there. */
export async function openInWindow(options: OpenOptions, io: Io): Promise<number> {
  const { name, env, cwd = process.cwd() } = options;
  const { session, window } = await openWindow({ name, env, cwd, argv: openAgain(options, 'window') });
  print(io.stdout, `${name} opens in tmux window ${session}:${window}`);
  return EXIT.ok;
}
