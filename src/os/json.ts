/**
 * JSON whose strings are well-formed: half of a surrogate pair (a text cut inside an emoji) becomes U+FFFD. JSON can
 * write one as `\ud83d`, but Codex 0.171.0 drops a frame that has it without an answer.
 */
export function wellFormedJson(value: object): string {
  return JSON.stringify(value, wellFormed);
}

function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
