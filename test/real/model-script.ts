/** One thing the scripted model does. */
export type Step =
  /** An assistant message, word by word with `chunkMs` between; phases are Codex's own words. */
  | { text: string; phase?: string; chunkMs?: number }
  | { reasoning: string }
  /** A tool call; a dynamic tool has no namespace, one of an MCP server has `mcp__<server>`. */
  | { call: string; namespace?: string; args?: unknown }
  | { delayMs: number }
  /** Stops until `model.release(key)`; a key already released stops nothing. */
  | { hold: string }
  /** An HTTP error; only as the first step. */
  | { status: number; body?: unknown; headers?: Record<string, string> }
  /** Destroys the connection in the middle of the stream. */
  | { cut: true }
  /** Ends the stream without `response.completed`. */
  | { end: true }
  | { failed: { code: string; message: string } };

/** Round N answers the Nth model request that one user text causes (the next round follows a tool call). */
export type Rounds = readonly (readonly Step[])[];

/** A final answer, the commonest step. */
export function final(text: string): Step {
  return { text, phase: 'final_answer' };
}

export function commentary(text: string): Step {
  return { text, phase: 'commentary' };
}

/** The end of a message that tells the model what to do with it: `` `review this ${script([[final('fine')]])}` ``. */
export function script(rounds: Rounds): string {
  return `@@${JSON.stringify(rounds)}`;
}

/**
 * The script at the very end of a text, or null. The outermost one counts, so a script may hold a tool call
 * whose text holds a script for somebody else. A text that ends like a script but is no JSON is answered with
 * that complaint.
 */
export function scriptAtEnd(text: string): Rounds | null {
  const end = text.trimEnd();
  if (!end.endsWith(']')) return null;
  for (const { index } of end.matchAll(/@@\[/g)) {
    const rounds = parse(end.slice(index + 2));
    if (rounds) return rounds;
  }
  return end.includes('@@[[') ? [[final(`bad script: ${end.slice(end.indexOf('@@[['))}`)]] : null;
}

function parse(json: string): Rounds | null {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value) && value.every(Array.isArray) ? value : null;
  } catch {
    return null;
  }
}
