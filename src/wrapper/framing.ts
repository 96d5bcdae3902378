import { oneLine } from '../os/terminal.ts';
import type { Message, Sender } from '../store/record.ts';

/** Longest name in a header; Claude Code reads no longer `from-name` either. */
const NAME_CHARS = 64;

/**
 * The user text a harness gets for a message: a header that says who wrote it, as the registry knows them, and
 * whether an answer goes back, then the text unchanged. Foreign strings in the header are one line without quotes.
 */
export function framed(message: Message, body: string = message.text): string {
  if (message.mark === 'notice') return body;
  return `${header(message)}\n\n${body}`;
}

function header(message: Message): string {
  const from = `${senderLabel(message.sender)} via the peer bridge`;
  const id = shortId(message);
  if (message.mark === 'answer' || message.mark === 'note') {
    const kind = message.mark === 'answer' ? 'Answer' : 'Note';
    const about = message.inReplyTo === null ? '' : ` to your message ${shortOf(message.inReplyTo)}`;
    return `${kind} from ${from}${about} (id ${id}).\nFor your information: nothing you write here is sent back.`;
  }
  const reply =
    message.sender.replyTo === null
      ? 'They gave no address: nothing you write here can be sent back.'
      : 'Reply in plain text; your whole reply is sent back to them.';
  return `Message from ${from} (id ${id}).\n${reply}`;
}

const KINDS = {
  claude: 'Claude session',
  codex: 'Codex peer',
  command: 'the command line',
  script: 'a script',
} as const;

/** Who wrote a message, in words. */
export function senderLabel(sender: Sender): string {
  const kind = KINDS[sender.kind];
  const name = oneLine(sender.name, NAME_CHARS).replaceAll('"', '').trim();
  return name === '' ? kind : `${kind} "${name}"`;
}

/** The first eight characters of the sender's own id of a message, or of ours when it gave none. */
export function shortId(message: Pick<Message, 'id' | 'msgId'>): string {
  return shortOf(message.msgId ?? message.id);
}

/** What people and models are shown of an id. */
export function shortOf(id: string): string {
  return id.replace(/[^0-9A-Za-z-]/g, '').slice(0, 8);
}
