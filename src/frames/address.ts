import { LIMITS } from '../limits.ts';

const SCHEME = 'uds:';

/** The address of a socket path as frames and envelopes write it. */
export function toAddress(socketPath: string): string {
  return SCHEME + socketPath;
}

/**
 * The socket path of a `uds:` address. Null for anything that cannot be connected to: another scheme, a
 * relative or over-long path, control characters.
 */
export function fromAddress(address: string): string | null {
  if (!address.startsWith(SCHEME)) return null;
  const socketPath = address.slice(SCHEME.length);
  if (!socketPath.startsWith('/') || /\p{Cc}/u.test(socketPath)) return null;
  return Buffer.byteLength(socketPath) <= LIMITS.socketPathBytes ? socketPath : null;
}
