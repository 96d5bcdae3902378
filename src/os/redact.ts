import { errorCode, errorMessage } from '../errors.ts';
import { LIMITS } from '../limits.ts';

/** 32 hex digits that are not part of something longer: the form of every peer token. */
const TOKEN = /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/gi;
const REDACTED = '[redacted]';
const LINE_CHARS = 32 * 1024;

export interface Redactor {
  hide(secret: string): void;
  /** One JSON line with its newline, without tokens and secrets, every string and the whole bounded. */
  line(fields: Readonly<Record<string, unknown>>): string;
}

/** Turns fields of a log entry into text that may be kept. */
export function redactor(): Redactor {
  const secrets = new Set<string>();

  function redact(text: string): string {
    let redacted = text.replace(TOKEN, REDACTED);
    for (const secret of secrets) redacted = redacted.replaceAll(secret, REDACTED);
    return redacted;
  }

  function value(_key: string, raw: unknown): unknown {
    if (raw instanceof Error) {
      return { code: errorCode(raw), message: raw.message, stack: raw.stack, cause: raw.cause };
    }
    if (typeof raw === 'bigint') return String(raw);
    // Redacted before it is cut: half a token is still half a secret.
    return typeof raw === 'string' ? cut(redact(raw.slice(0, 2 * LIMITS.logString)), raw.length) : raw;
  }

  return {
    hide(secret) {
      if (secret !== '') secrets.add(secret);
    },
    line(fields) {
      const head = { at: fields.at, event: fields.event };
      try {
        // A second time for secrets that were used as keys.
        const json = redact(JSON.stringify(fields, value));
        return `${json.length <= LINE_CHARS ? json : JSON.stringify({ ...head, cutChars: json.length }, value)}\n`;
      } catch (error) {
        return `${JSON.stringify({ ...head, unprintable: errorMessage(error) }, value)}\n`;
      }
    },
  };
}

function cut(text: string, fullLength: number): string {
  if (text.length <= LIMITS.logString) return text;
  return `${text.slice(0, LIMITS.logString)}… (${fullLength} characters)`;
}
