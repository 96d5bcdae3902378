import type { ResponsesRequest } from '../../src/demo/responses-server.ts';
import { commentary, final, type Rounds } from '../real/model-script.ts';

const MARKER = /mk-[0-9a-f]{4}-\d{4}/g;

/** The text of each item in the user's role. */
export function userTexts({ input }: ResponsesRequest): string[] {
  const items = input.filter(({ type, role }) => type === 'message' && role === 'user');
  return items.map(({ content }) =>
    (Array.isArray(content) ? (content as { text?: string }[]) : []).map(({ text }) => text ?? '').join(''),
  );
}

/** A turn that a daemon does not wait for when it is restarted. */
const LONG_MS = 2_500;

/**
 * Turns of 50 to 400 ms in several shapes, told by the marker, and now and then a long one; a recovery turn answers
 * what was asked last.
 */
export function answerTo(request: ResponsesRequest): Rounds {
  const marker = userTexts(request).join('\n').match(MARKER)?.at(-1) ?? 'nothing';
  const number = Number(marker.slice(-4)) || 0;
  const isRecovery = request.text.includes('daemon_recovery');
  const delayMs = number % 7 === 6 && !isRecovery ? LONG_MS : 50 + ((number * 97) % 350);
  const answer = final(`${isRecovery ? 'recovered' : 'answer'} ${marker}`);
  const half = { delayMs: delayMs / 2 };
  switch (number % 4) {
    case 0:
      return [[{ delayMs }, answer]];
    case 1:
      return [[commentary('looking'), { delayMs }, answer]];
    case 2:
      return [[half, commentary('one'), half, { ...answer, chunkMs: 20 }]];
    default: {
      const args = { plan: [{ step: 'look', status: 'in_progress' }] };
      return [
        [commentary('planning'), half, { call: 'update_plan', args }],
        [half, answer],
      ];
    }
  }
}
