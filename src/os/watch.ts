import { type FSWatcher, watch } from 'node:fs';

/**
 * Calls `onChange` when something in a folder changes; keeps no process alive. Null when the folder cannot be
 * watched (gone, or the machine is out of watches): the caller polls.
 */
export function watchFolder(dir: string, onChange: () => void): FSWatcher | null {
  try {
    const watcher = watch(dir, { persistent: false }, onChange);
    watcher.on('error', onChange);
    return watcher;
  } catch {
    return null;
  }
}

/** Waits for the next change in a folder, at most `limitMs`. Rejects with the signal's reason when aborted. */
export async function nextChange(dir: string, limitMs: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const end = () => {
      watcher?.close();
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const watcher = watchFolder(dir, end);
    const timer = setTimeout(end, limitMs);
    signal?.addEventListener('abort', end);
  });
  signal?.throwIfAborted();
}
