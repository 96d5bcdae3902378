import { createRequire } from 'node:module';
import type { LibraryHandle } from 'koffi';

type NativeFunction = ReturnType<LibraryHandle['func']>;

let library: LibraryHandle | null = null;

/**
 * A function of the C library, by its prototype. Loading costs about 20 ms, once.
 * @throws the loader's error when the native module cannot be loaded
 */
export function libc(prototype: string): NativeFunction {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  library ??= koffi.load(process.platform === 'darwin' ? 'libSystem.B.dylib' : 'libc.so.6');
  return library.func(prototype);
}

const F_SETFD = 2;
const FD_CLOEXEC = 1;

/** No program that we start gets this descriptor. */
export function closeOnExec(fd: number): void {
  libc('int fcntl(int fd, int command, ...)')(fd, F_SETFD, 'int', FD_CLOEXEC);
}
