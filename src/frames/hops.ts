import { createHmac, randomBytes } from 'node:crypto';
import { LIMITS } from '../limits.ts';
import { toAddress } from './address.ts';

const processKey = randomBytes(32);

/**
 * The token by which this process finds itself in a hop chain, and which nobody else can make: 24 hex of an
 * HMAC-SHA256 over its address, as in Claude Code 2.1.332.
 */
export function hopToken(socketPath: string, key: Uint8Array = processKey): string {
  return createHmac('sha256', key).update(toAddress(socketPath)).digest('hex').slice(0, 24);
}

/** The chain of what we send because of a message with `chain`; an empty one is begun. */
export function extendChain(chain: readonly string[], ownToken: string): string[] {
  return [...chain, ownToken].slice(-LIMITS.hopEntries);
}

/** Why a message with this chain is dropped, in Claude Code's words, or null. */
export function isLoop(chain: readonly string[], ownToken: string): 'hop-runaway' | 'hop-loop' | null {
  if (chain.length > LIMITS.hopEntries) return 'hop-runaway';
  const ownCount = chain.filter((token) => token === ownToken).length;
  return ownCount >= LIMITS.hopOwnToken ? 'hop-loop' : null;
}
