import type { Breach } from './checker.ts';
import type { Evidence } from './evidence.ts';

type Line = readonly [atMs: number, what: string];

/** What to read when a run failed: its seed, its faults, and all that is known of each message in question. */
export function report(evidence: Evidence, breaches: readonly Breach[]): string {
  const startMs = evidence.sent[0]?.startedAtMs ?? 0;
  const markers = [...new Set(breaches.map(({ marker }) => marker).filter(Boolean))];
  return [
    `PEER_SEED=${evidence.seed} replays the schedule of this run.`,
    ...breaches.map(({ marker, what }) => `✗ ${marker} ${what}`),
    '── faults',
    ...told(faults(evidence), startMs),
    ...markers.flatMap((marker) => [`── ${marker}`, ...told(story(evidence, marker), startMs)]),
  ].join('\n');
}

function told(lines: readonly Line[], startMs: number): string[] {
  const inOrder = [...lines].sort(([a], [b]) => a - b);
  return inOrder.map(([atMs, what]) => `${String(atMs - startMs).padStart(7)} ms  ${what}`);
}

function faults({ faults }: Evidence): Line[] {
  return faults.map(({ target, name, what, atMs, goneAtMs, backAtMs }) => {
    const back = backAtMs === null ? '' : `, back after ${backAtMs - atMs} ms`;
    return [atMs, `${what} of ${name || `the ${target}`}, over after ${goneAtMs - atMs} ms${back}`];
  });
}

function story({ sent, store, userItems, requests, received }: Evidence, marker: string): Line[] {
  return sent
    .filter((one) => one.marker === marker)
    .flatMap((one): Line[] => {
      const rows = store.messages.filter(({ msgId }) => msgId === one.msgId);
      const of = <Row extends { message_id: string }>(all: readonly Row[]) =>
        all.filter(({ message_id }) => rows.some(({ id }) => id === message_id));
      const { startedAtMs, endedAtMs, sender, peer, priority, msgId, error } = one;
      return [
        [startedAtMs, `${sender} begins to write it to ${peer} (${priority}, ${msgId})`],
        [endedAtMs, one.isWritten ? 'written' : `not written: ${error}`],
        ...rows.map((row): Line => [endedAtMs, `recorded as ${row.id} for thread ${row.thread_id}`]),
        ...of(store.claims).map((row): Line => [row.claimed_at_ms, `claimed as ${row.client_id}`]),
        ...requests.flatMap(({ atMs, userTexts }): Line[] => {
          const times = userTexts.filter((text) => text.includes(marker)).length;
          return times === 0
            ? []
            : [[atMs, `the model sees it in ${times} of ${userTexts.length} user items`]];
        }),
        ...userItems
          .filter(({ text }) => text.includes(marker))
          .map(
            (item): Line => [
              Number.MAX_SAFE_INTEGER,
              `in thread ${item.threadId}, turn ${item.turnId} (${item.turnStatus}) as ${item.clientId}`,
            ],
          ),
        ...of(store.outcomes).map((row): Line => [Number.MAX_SAFE_INTEGER, `its outcome: ${row.state}`]),
        ...of(store.replies).flatMap((row): Line[] => [
          [row.claimed_at_ms, 'the right to reply is taken'],
          ...(row.noted_at_ms === null ? [] : [[row.noted_at_ms, 'the right to note is taken'] as const]),
          [row.delivered_at_ms ?? Number.MAX_SAFE_INTEGER, `the reply: ${row.delivery}`],
        ]),
        ...received
          .filter(({ inReplyTo }) => inReplyTo === msgId)
          .map(
            (frame): Line => [
              frame.atMs,
              `${frame.sender} gets ${frame.kind} ${frame.outcome}: ${JSON.stringify(frame.body)}`,
            ],
          ),
      ];
    });
}
