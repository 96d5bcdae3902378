/** Numbers in [0, 1) that a seed repeats (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `PEER_SEED`, or another one each time: to be put into the name of the test. */
export const SEED = Number(process.env.PEER_SEED ?? Date.now() % 1_000_000);
