import type { FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { removeFile, writeAtomic } from '../os/atomic.ts';
import { ensureOwnDir } from '../os/folders.ts';
import { smallFileOrNull } from '../os/small-file.ts';
import { watchFolder } from '../os/watch.ts';
import { keyFile } from './key.ts';
import { type Places, socketPath } from './places.ts';
import { BRIDGE, type Row } from './row.ts';

export interface PublicationOptions {
  readonly places: Pick<Places, 'sessionsDir' | 'socketDir'>;
  readonly row: Row;
  /** 32 hex digits; senders show it. */
  readonly token: string;
  /** Told when the row or key cannot be written later on (disk full, folder gone). */
  readonly onProblem?: (error: unknown) => void;
}

/** Several changes in the folder come together; one look is enough for all. */
const LOOK_AFTER_MS = 50;
/** Where the folder cannot be watched or written. */
const POLL_MS = 1_000;

/**
 * Our row and key while they are published. Writes are whole and in order; when somebody deletes or changes the row
 * or the key they are written again, since a session without its row cannot be found until it restarts.
 */
export class Publication {
  readonly #sessionsDir: string;
  readonly #rowFile: string;
  readonly #keyFile: string;
  readonly #keyText: string;
  readonly #onProblem: (error: unknown) => void;
  #row: Row;
  #isPublished = true;
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isTroubled = false;

  private constructor({ places, row, token, onProblem }: PublicationOptions) {
    const socket = row.messagingSocketPath ?? socketPath(places, row.pid);
    this.#sessionsDir = places.sessionsDir;
    this.#rowFile = join(places.sessionsDir, `${row.pid}.json`);
    this.#keyFile = keyFile(places.sessionsDir, row.pid, socket);
    this.#keyText = JSON.stringify({
      peerToken: token,
      procStart: row.procStart,
      pidDomain: row.pidDomain,
      // Ours, so that a key and a socket left without a row are known as ours.
      bridge: BRIDGE,
      messagingSocketPath: socket,
    });
    this.#onProblem = onProblem ?? (() => {});
    this.#row = row;
  }

  /**
   * Writes the key, then the row as given, and watches both.
   * @throws PeerError `unsafe-folder`, or the system's error when they cannot be written
   */
  static open(options: PublicationOptions): Publication {
    const publication = new Publication(options);
    ensureOwnDir(options.places.sessionsDir);
    publication.#writeKey();
    publication.#writeRow();
    publication.#watch();
    return publication;
  }

  /** The row as last published. */
  get row(): Row {
    return this.#row;
  }

  /**
   * Changes fields; undefined removes one. Sets `updatedAt`, and `statusUpdatedAt` with a new status. Nothing is
   * written when nothing differs, or after `withdrawRow`. A failed write goes to `onProblem`.
   */
  update(patch: Partial<Row>): void {
    if (!this.#isPublished || !differs(this.#row, patch)) return;
    const now = Date.now();
    const isNewStatus = 'status' in patch && patch.status !== this.#row.status;
    this.#row = { ...this.#row, ...patch, updatedAt: now, ...(isNewStatus && { statusUpdatedAt: now }) };
    this.#attempt(() => this.#writeRow());
  }

  /** Nobody finds us any more. The key stays, so that what is on its way is still known as authentic. */
  withdrawRow(): void {
    this.#isPublished = false;
    this.#watcher?.close();
    this.#watcher = null;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#attempt(() => removeFile(this.#rowFile));
  }

  /** Last; withdraws the row too when that has not been done. */
  withdrawKey(): void {
    if (this.#isPublished) this.withdrawRow();
    this.#attempt(() => removeFile(this.#keyFile));
  }

  /** A watch is on the folder's inode: a folder that was deleted and made again needs a new one. */
  #watch(): void {
    this.#watcher?.close();
    this.#watcher = watchFolder(this.#sessionsDir, () => this.#lookAfter(LOOK_AFTER_MS));
    if (this.#watcher === null) this.#lookAfter(POLL_MS);
  }

  #lookAfter(delayMs: number): void {
    this.#timer ??= setTimeout(() => this.#look(), delayMs).unref();
  }

  #look(): void {
    this.#timer = null;
    try {
      // Files that are gone may have gone with their folder; the number of a new folder's inode can be the old one.
      if (this.#restore() || this.#watcher === null) this.#watch();
      this.#isTroubled = false;
    } catch (error) {
      if (!this.#isTroubled) this.#onProblem(error);
      this.#isTroubled = true;
      this.#lookAfter(POLL_MS);
    }
  }

  /** Writes what is missing or not as we wrote it; whether anything was. */
  #restore(): boolean {
    const isKeyThere = smallFileOrNull(this.#keyFile) === this.#keyText;
    const isRowThere = smallFileOrNull(this.#rowFile) === JSON.stringify(this.#row);
    if (isKeyThere && isRowThere) return false;
    ensureOwnDir(this.#sessionsDir);
    if (!isKeyThere) this.#writeKey();
    if (!isRowThere) this.#writeRow();
    return true;
  }

  #attempt(action: () => unknown): void {
    try {
      action();
    } catch (error) {
      this.#onProblem(error);
    }
  }

  #writeKey(): void {
    writeAtomic(this.#keyFile, this.#keyText, 0o600);
  }

  #writeRow(): void {
    writeAtomic(this.#rowFile, JSON.stringify(this.#row), 0o600);
  }
}

function differs(row: Row, patch: Partial<Row>): boolean {
  return Object.entries(patch).some(([key, value]) => JSON.stringify(row[key]) !== JSON.stringify(value));
}
