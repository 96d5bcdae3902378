import type { Evidence, Fault, Received, Sent } from './evidence.ts';

/** A broken promise, and the message it was given to ('' when it is about none). */
export interface Breach {
  readonly marker: string;
  readonly what: string;
}

/** Clocks of several processes are read at different moments. */
const SLACK_MS = 50;
/** What says that a message is safe to send again may not have reached the model. */
const UNTOUCHED: readonly string[] = ['not-taken', 'refused', 'expired'];

/** Judges a run that has settled: every breach of the promise that its evidence shows. */
export function check(evidence: Evidence): Breach[] {
  const deaths = evidence.deaths.map((death) => ({
    marker: '',
    what: `a wrapper ended by itself: ${death}`,
  }));
  const known = new Set(evidence.sent.map(({ msgId }) => msgId));
  const strays = evidence.received
    .filter(({ inReplyTo }) => !known.has(inReplyTo))
    .map(({ sender, body }) => ({ marker: '', what: `${sender} got a reply to nothing: ${body}` }));
  return [...deaths, ...strays, ...evidence.sent.flatMap((sent) => checkMessage(evidence, sent))];
}

function checkMessage(evidence: Evidence, sent: Sent): Breach[] {
  const { marker } = sent;
  const rows = evidence.store.messages.filter(({ msgId }) => msgId === sent.msgId);
  const found = [...inModel(evidence, marker), ...inReplies(evidence, sent)];
  if (rows.length > 1) found.push(`it is recorded ${rows.length} times`);
  const [row] = rows;
  if (row === undefined) found.push(...unrecorded(evidence, sent));
  else found.push(...recorded(evidence, sent, row.id));
  return found.map((what) => ({ marker, what }));
}

/** It becomes at most one user item, and no request shows it to the model twice. */
function inModel({ userItems, requests }: Evidence, marker: string): string[] {
  const items = userItems.filter(({ text }) => text.includes(marker)).length;
  const most = Math.max(0, ...requests.map((request) => countIn(request.userTexts, marker)));
  return [
    ...(items > 1 ? [`${items} user items hold it`] : []),
    ...(most > 1 ? [`one model request holds it in ${most} user items`] : []),
  ];
}

/** At most one answer, to its sender alone, and the answer is about it. */
function inReplies(evidence: Evidence, sent: Sent): string[] {
  const replies = repliesTo(evidence, sent);
  const answers = replies.filter(({ kind }) => kind === 'answer');
  const foreign = answers.filter(({ body }) => !belongs(body, sent.marker));
  return [
    ...(answers.length > 1 ? [`${answers.length} answers came`] : []),
    ...replies.filter(({ sender }) => sender !== sent.sender).map(({ sender }) => `${sender} got its reply`),
    ...foreign.map(({ body }) => `its answer is about something else: ${JSON.stringify(body)}`),
  ];
}

function belongs(body: string, marker: string): boolean {
  return body.includes(marker) || /\(answer to \S+, given together with /.test(body);
}

/** Lost although its sender was told otherwise: only by a wrapper that was killed meanwhile. */
function unrecorded(evidence: Evidence, sent: Sent): string[] {
  const replies = repliesTo(evidence, sent);
  const turnedAway = replies.filter(({ kind, outcome }) => kind === 'note' && outcome === 'refused');
  const found = evidence.userItems.some(({ text }) => text.includes(sent.marker))
    ? ['it reached the thread and is not recorded']
    : [];
  if (replies.length > turnedAway.length) found.push('it was answered and is not recorded');
  if (!sent.isWritten || turnedAway.length === 1) return found;
  const isExplained = killsOf(evidence, sent.peer).some(
    ({ atMs, goneAtMs }) => atMs - SLACK_MS <= sent.endedAtMs && sent.startedAtMs <= goneAtMs + SLACK_MS,
  );
  return isExplained ? found : [...found, 'it was written, is not recorded, and nobody killed its receiver'];
}

/** One outcome; what it says agrees with the thread; the sender is told of it. */
function recorded(evidence: Evidence, sent: Sent, id: string): string[] {
  const { store, userItems, requests } = evidence;
  const found: string[] = [];
  const items = userItems.filter(({ clientId }) => clientId === `peer:${id}`).length;
  if (items > 1) found.push(`${items} user items have its client id`);
  const claim = store.claims.find(({ message_id }) => message_id === id);
  const firstSeen = requests.find(({ userTexts }) => countIn(userTexts, sent.marker) > 0);
  const wasGiven = items > 0 || firstSeen !== undefined;
  if (wasGiven && claim === undefined) found.push('it was handed over without a claim');
  if (claim !== undefined && firstSeen !== undefined && claim.claimed_at_ms > firstSeen.atMs + 1) {
    found.push(`it was claimed ${claim.claimed_at_ms - firstSeen.atMs} ms after the model had seen it`);
  }
  const outcomes = store.outcomes.filter(({ message_id }) => message_id === id);
  const [outcome] = outcomes;
  if (outcomes.length !== 1 || outcome === undefined) return [...found, `it has ${outcomes.length} outcomes`];
  if (UNTOUCHED.includes(outcome.state) && wasGiven)
    found.push(`it is ${outcome.state} and reached the model`);
  if (outcome.state === 'answered' && items !== 1)
    found.push(`it is answered with ${items} items in the threads`);
  if (outcome.state === 'expired' && !evidence.gone.includes(sent.sender)) {
    found.push('it expired while its sender waited');
  }
  const strange = repliesTo(evidence, sent).filter((reply) => reply.outcome !== outcome.state);
  found.push(...strange.map((reply) => `it is ${outcome.state}, its sender was told ${reply.outcome}`));
  return [...found, ...told(evidence, sent, id)];
}

/** One reply; two when the wrapper was killed while it wrote the first, which the second then says. */
function told(evidence: Evidence, sent: Sent, id: string): string[] {
  const replies = repliesTo(evidence, sent);
  const notes = replies.filter(isHalfTold);
  const reply = evidence.store.replies.find(({ message_id }) => message_id === id);
  if (reply === undefined) return ['nobody took the right to reply to it'];
  const firstEnd = reply.noted_at_ms ?? reply.claimed_at_ms;
  const kills = killsOf(evidence, sent.peer);
  const hasWindow = (sinceMs: number, untilMs: number) =>
    kills.some(({ atMs, goneAtMs }) => goneAtMs + SLACK_MS >= sinceMs && atMs - SLACK_MS <= untilMs);
  const found: string[] = [];
  if (notes.length > 1) found.push(`${notes.length} notes say that it may have been told`);
  if (notes.length > 0 && !hasWindow(reply.claimed_at_ms, firstEnd)) {
    found.push('a note says that it may have been told, and nobody killed its receiver meanwhile');
  }
  const others = replies.length - notes.length;
  if (others > 1) found.push(`${others} replies came`);
  const isGone = evidence.gone.includes(sent.sender);
  const lostNote = reply.noted_at_ms !== null && hasWindow(reply.noted_at_ms, Number.POSITIVE_INFINITY);
  if (replies.length === 0 && !isGone && !lostNote)
    found.push(`its sender was told nothing (${reply.delivery})`);
  return found;
}

function isHalfTold({ kind, body }: Received): boolean {
  return kind === 'note' && body.includes('may have reached you');
}

function repliesTo({ received }: Evidence, { msgId }: Sent): Received[] {
  return received.filter(({ inReplyTo }) => inReplyTo === msgId);
}

function killsOf({ faults }: Evidence, peer: string): Fault[] {
  return faults.filter(
    ({ target, name, what }) => target === 'wrapper' && name === peer && what === 'SIGKILL',
  );
}

function countIn(texts: readonly string[], marker: string): number {
  return texts.filter((text) => text.includes(marker)).length;
}
