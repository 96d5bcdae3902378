/**
 * The seam to an agent CLI. The wrapper knows only this file; `codex.ts` implements it on the real
 * program, `test/fake-harness.ts` on a script.
 */

/** Thread rights and settings, as the harness reports them. */
export interface ThreadSettings {
  readonly model: string | null;
  readonly effort: string | null;
  readonly approval: string;
  readonly sandbox: SandboxMode;
  readonly cwd: string;
}

export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access';

export type TurnStatus = 'inProgress' | 'completed' | 'interrupted' | 'failed';

/** What of an item the reply rule looks at. Codex's own words; unknown item types are `other`. */
export type Item =
  | { readonly type: 'user'; readonly clientId: string | null }
  | { readonly type: 'agent'; readonly text: string; readonly phase: string | null }
  | { readonly type: 'toolOutput'; readonly name: string }
  | { readonly type: 'other' };

/** A turn as read back, items in thread order. */
export interface Turn {
  readonly id: string;
  readonly rootTurnId: string;
  readonly status: TurnStatus;
  /** Codex's own words for a failed turn, and its error kind (`usageLimitExceeded`, …). */
  readonly error: { readonly message: string; readonly kind: string } | null;
  readonly items: readonly Item[];
}

/** Why a start was refused by the harness: decides what becomes of the claim. */
export type StartRefusal =
  /** The daemon drains before a restart: back to the head of the queue, wait for a new connection. */
  | 'draining'
  /** The running turn takes no input (review, compact): back to the head, wait until idle. */
  | 'not-steerable'
  /** The harness says this message can never be taken (over its size cap). */
  | 'never'
  /** Anything else: back to the head; the harness re-opens the thread before it reports ready again. */
  | 'not-ready';

/**
 * What a harness thread tells its wrapper, in the order of the frames on the wire (responses included):
 * a listener is called synchronously, once per frame.
 */
export type HarnessEvent = ThreadEvent | ToolEvent;

/** About the thread, its turns and the messages given to it. */
export type ThreadEvent =
  /** The thread is loaded, its rights are read back and not wider than asked: it may be given messages. */
  | {
      readonly type: 'ready';
      readonly status: ThreadStatus;
      readonly settings: ThreadSettings;
      readonly newestTurn: { readonly id: string; readonly status: TurnStatus } | null;
      readonly startedByUs: boolean;
    }
  /** The connection is gone; calls without a response will get none. The harness is reconnecting by itself. */
  | { readonly type: 'disconnected'; readonly waitingFor: string }
  /** Why a reconnecting harness is not ready (shown in the row), e.g. `daemon restart`. */
  | { readonly type: 'waiting'; readonly waitingFor: string }
  | { readonly type: 'status'; readonly status: ThreadStatus }
  | { readonly type: 'turn-started'; readonly turnId: string }
  /** A user item exists: the evidence for `clientId`, or somebody else's line (null or a foreign id). */
  | { readonly type: 'user-item'; readonly turnId: string; readonly clientId: string | null }
  | { readonly type: 'turn-ended'; readonly turnId: string; readonly status: TurnStatus }
  | { readonly type: 'start-accepted'; readonly clientId: string; readonly turnId: string }
  | {
      readonly type: 'start-refused';
      readonly clientId: string;
      readonly refusal: StartRefusal;
      readonly message: string;
    }
  | { readonly type: 'settings'; readonly settings: ThreadSettings }
  /** Items were taken back (`thread/reverted`): everything open must be read again. */
  | { readonly type: 'reverted' }
  /** The thread or the daemon is gone for good; the peer closes with this cause. */
  | { readonly type: 'gone'; readonly cause: string };

/** About calls of the tools that we serve on this thread. */
export type ToolEvent =
  /** The model waits for the result. Comes again with the same id after a reconnect, until it is answered. */
  | {
      readonly type: 'tool-call';
      readonly callId: string;
      readonly turnId: string;
      readonly tool: string;
      readonly arguments: unknown;
    }
  /** The call is over without our answer: its turn was interrupted, or another client answered it. */
  | { readonly type: 'tool-ended'; readonly callId: string };

export interface ToolResult {
  readonly text: string;
  readonly success: boolean;
}

/** `systemError` counts as idle: the next `turn/start` works normally (Codex 0.171.0). */
export type ThreadStatus =
  | { readonly type: 'idle' }
  | { readonly type: 'active'; readonly waitingFor: string | null };

/** One thread of a harness, held open and reconnected for as long as the peer lives. */
export interface HarnessThread {
  readonly id: string;
  readonly harness: 'codex';
  /** Version label of the running harness. */
  readonly version: string;
  /** Command line that attaches a terminal to this thread, for the pane. */
  readonly pane: PaneCommand;
  listen(listener: (event: HarnessEvent) => void): void;
  /**
   * Gives one message to the thread: starts a turn when it is idle, steers when one runs. Never throws and
   * never waits; exactly one of `start-accepted`, `start-refused` or nothing (connection lost) follows.
   */
  start(clientId: string, text: string): void;
  /**
   * The thread's turns from `sinceTurnId` (included; null: from the first) to the newest, oldest first, every
   * item read. Rejects when they cannot be read now.
   */
  readTurns(sinceTurnId: string | null): Promise<readonly Turn[]>;
  /**
   * The tools of an MCP server of this name that the thread is connected to; null when it is not. Waits for one that
   * still starts, at most `limitMs`. Rejects when it cannot be told.
   */
  mcpTools(serverName: string, limitMs: number): Promise<readonly string[] | null>;
  /** Gives the model the result of a call that is open now; false, and nothing happens, when it is not. */
  answerTool(callId: string, result: ToolResult): boolean;
  /** Says whether a terminal is attached: then approvals are left to the person there. */
  paneAttached(attached: boolean): void;
  /** Tells the harness that something waits, so that a daemon a person stopped may be started again. */
  messageWaits(): void;
  /** Unsubscribes and disconnects; idempotent, never rejects. */
  close(): Promise<void>;
}

export interface PaneCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}
