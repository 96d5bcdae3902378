import { errorCode, errorMessage, PeerError } from '../errors.ts';

/** A store that works, but not for us. Both are for people: a clause, and a sentence. */
export class Unusable extends Error {
  readonly remedy: string;

  constructor(reason: string, remedy: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.remedy = remedy;
  }
}

/** The store cannot be used; `reason` is a clause for lists. */
export class StoreError extends PeerError {
  readonly reason: string;

  constructor(file: string, reason: string, remedy: string, cause: unknown) {
    const what = `The store ${file} cannot be used: ${reason}. Nothing was recorded.`;
    super('store-failed', remedy === '' ? what : `${what} ${remedy}`, { cause });
    this.reason = reason;
  }
}

/** Another connection has the lock that this one needs. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(errorCode(error) ?? '');
}

/** Whether a rule of the tables stood against a write; `rule` is its trigger's text. */
export function isAgainst(rule: string, error: unknown): boolean {
  return errorCode(error) === 'SQLITE_CONSTRAINT_TRIGGER' && errorMessage(error) === rule;
}

/** Makes a failure of the store one that a person may see; any other error stays as it is. */
export function storeFailure(file: string, error: unknown): unknown {
  if (isBusy(error)) {
    const remedy = `To see who holds it: fuser -v ${file}`;
    return new PeerError(
      'store-busy',
      `The store ${file} stayed locked by another program. Nothing was recorded. ${remedy}`,
      { cause: error },
    );
  }
  if (error instanceof Unusable) return new StoreError(file, error.message, error.remedy, error);
  const code = errorCode(error) ?? '';
  if (error instanceof SyntaxError || /^SQLITE_(NOTADB|CORRUPT)/.test(code)) {
    return new StoreError(file, 'it is damaged', `Move all of ${file}* away.`, error);
  }
  if (/^(SQLITE_FULL|ENOSPC|EDQUOT)/.test(code)) {
    return new StoreError(file, 'the disk is full', 'Free some space.', error);
  }
  if (/^(SQLITE_READONLY|SQLITE_CANTOPEN|SQLITE_PERM|EACCES|EPERM|EROFS|EISDIR)/.test(code)) {
    return new StoreError(file, 'it cannot be written', `See who may: ls -la ${file}`, error);
  }
  if (/^(SQLITE_|E[A-Z]+$)/.test(code)) {
    return new StoreError(file, `${errorMessage(error)} (${code})`, '', error);
  }
  return error;
}
