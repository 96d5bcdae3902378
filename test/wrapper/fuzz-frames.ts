import { TOKEN } from '../frames/sockets.ts';

export type Random = () => number;

/** Words that mean something at some place of some frame, and values that mean nothing anywhere. */
const VALUES: readonly unknown[] = [
  ...['auth', 'user', 'control', 'notify_when_idle', 'peer_idle_notice', 'peer_message_status', 'rename'],
  ...['now', 'later', 'idle', 'exited', 'held', 'dropped', 'rate-limited', 'answer', 'note', 'bypass', TOKEN],
  ...['uds:/nowhere/1.sock', 'uds:relative', '', '\0', '\u2028', '\ud800', '__proto__', 'x'.repeat(5_000)],
  ...[null, true, 0, -1, 1e308, [], {}, [[[[]]]], { content: 'x' }, ['a', null, 3]],
];
const KEYS = [
  'type',
  'action',
  'msg_id',
  'from',
  'message',
  'priority',
  'peerwire',
  'constructor',
  '__proto__',
];
const PIECES = ['{', '}', '[', ']', '"', ':', ',', '\\', '\\u0000', '\n', '\r', ' ', '<', '>', '\x00', 'é'];

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T;
}

function id(random: Random): string {
  return `fuzz-${Math.floor(random() * 1e9).toString(36)}`;
}

/** A frame that a peer could have sent: to be damaged. Its sender subscribes, and wants no answer. */
function frame(random: Random, sender: string): object {
  const ids = { msgV: 1, msg_id: id(random) };
  const from = random() < 0.1 ? { from: 'uds:/nowhere/1.sock' } : {};
  const kind = random();
  if (kind < 0.2) return { type: 'auth', token: random() < 0.5 ? TOKEN : '0'.repeat(32) };
  if (kind < 0.6) {
    const hops = Array.from({ length: Math.floor(random() * 40) }, () => 'ab'.repeat(12)).join(',');
    const chain = random() < 0.5 ? '' : ` hop-chain="${hops}"`;
    const content = `<cross-session-message${chain} from-name="fuzz" from-mode="prompting">\nfuzz\n</cross-session-message>`;
    const mark = random() < 0.3 ? { peerwire: { kind: 'answer', in_reply_to: id(random) } } : {};
    return { ...ids, type: 'user', message: { role: 'user', content }, priority: 'next', ...from, ...mark };
  }
  const action = pick(random, [
    'notify_when_idle',
    'peer_idle_notice',
    'peer_message_status',
    'rename',
    'stop',
  ]);
  const about = { orig_msg_id: id(random), status: 'held', state: 'idle', detail: 'x', dropped_msg_ids: [] };
  return { type: 'control', action, from: sender, ...about, ...ids };
}

/** The same with some of its fields, at any depth, removed, renamed or given another value. */
function damagedValue(random: Random, value: unknown): unknown {
  if (random() < 0.05) return pick(random, VALUES);
  if (Array.isArray(value)) return value.map((one) => damagedValue(random, one));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, one]) => {
    if (random() < 0.04) return [];
    return [[random() < 0.04 ? pick(random, KEYS) : key, damagedValue(random, one)] as const];
  });
  if (random() < 0.05) entries.push([pick(random, KEYS), pick(random, VALUES)]);
  return Object.fromEntries(entries);
}

/** The same with bytes flipped, cut out, doubled or put in. */
function damagedBytes(random: Random, bytes: Buffer): Buffer {
  const at = Math.floor(random() * bytes.length);
  const length = Math.floor(random() * 20);
  const [before, piece, after] = [bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at)];
  switch (Math.floor(random() * 5)) {
    case 0:
      return Buffer.concat([before, bytes.subarray(at + length)]);
    case 1:
      return Buffer.concat([before, piece, after]);
    case 2:
      return Buffer.concat([before, Buffer.from(pick(random, PIECES)), after]);
    case 3:
      return Buffer.concat([before, piece.map((byte) => byte ^ (1 << (at % 8)))]);
    default:
      return Buffer.from(Array.from({ length: length * 5 }, () => Math.floor(random() * 256)));
  }
}

/** One line as whoever might write it: whole, damaged, or noise; `sender` is an address. */
export function fuzzedLine(random: Random, sender: string): Buffer {
  const whole = frame(random, sender);
  const value = random() < 0.5 ? whole : damagedValue(random, whole);
  const bytes = Buffer.from(`${JSON.stringify(value)}\n`);
  return random() < 0.6 ? bytes : damagedBytes(random, bytes);
}
