export interface PeerOptions {
  readonly name: string;
  /** Fields laid over the published row; null removes one. */
  readonly row?: object;
  /** Default `<socket folder>/<pid>.sock`. */
  readonly socketPath?: string;
  /** false: no key file, so nobody can authenticate to it. */
  readonly key?: boolean;
  /** false: a process with a socket that no registry names. */
  readonly publishRow?: boolean;
  /** Default `after-eof`, as Claude Code does; the others are what broken receivers do. */
  readonly hangUp?: 'after-eof' | 'on-data' | 'at-once' | 'never';
}

export interface PeerIdentity {
  readonly pid: number;
  readonly socketPath: string;
  readonly token: string;
  readonly sessionId: string;
}

/** Whom to send to, and what to say first. */
export interface Target {
  /** A name in the registry … */
  readonly to?: string;
  /** … or a socket path. */
  readonly socket?: string;
  /** `key` (default): the token in the receiver's key file; `wrong`: another one; `none`: no auth line. */
  readonly auth?: 'key' | 'wrong' | 'none';
  /** How long the receiver may take to hang up; default 10 s without any traffic. */
  readonly withinMs?: number;
}

export interface PeerMessage extends Target {
  /** The body; it is put into Claude's envelope … */
  readonly text?: string;
  /** … unless the whole content is given. */
  readonly content?: unknown;
  readonly msgId?: string;
  readonly priority?: 'now' | 'next' | 'later';
  /** Field `peerwire`: what kind of message a wrapper sends. */
  readonly mark?: object;
  /** Address in frame and envelope; null: none. Default: its own. */
  readonly from?: string | null;
  readonly fromName?: string;
  readonly fromMode?: 'prompting' | 'bypass' | null;
  /** The chain of the message this one follows (`[]` begins one); its own token is added. */
  readonly hopChain?: readonly string[];
  /** Further top-level fields of the frame. */
  readonly fields?: object;
}

export interface ControlFrame extends Target {
  readonly fields: { readonly action: string } & { readonly [field: string]: unknown };
}

export interface SendResult {
  /** What the receiver wrote back: nothing, when it behaves. */
  readonly answered: string;
  /** System error code of the connection, or `NOHANGUP`; null when the receiver hung up. */
  readonly error: string | null;
  /** From connecting to the receiver's hang-up. */
  readonly tookMs: number;
}

/** A frame as parsed; every field is the sender's claim. */
export interface WireFrame {
  readonly type?: string;
  readonly msg_id?: string;
  readonly from?: string;
  readonly priority?: string;
  readonly action?: string;
  readonly message?: { readonly role?: string; readonly content?: unknown };
  readonly peerwire?: { readonly kind?: string; readonly in_reply_to?: string; readonly outcome?: string };
  readonly [field: string]: unknown;
}

export interface ReceivedFrame {
  readonly connection: number;
  readonly atMs: number;
  /** The line without its newline, byte for byte. */
  readonly raw: string;
  /** null when the line is no JSON. */
  readonly frame: WireFrame | null;
  /** An auth line with the right token came before it on this connection. */
  readonly authed: boolean;
  /** `message.content`, `''` without one. */
  readonly content: string;
  /** The same without the envelope. */
  readonly body: string;
}

export type PeerEvent = { readonly connection: number; readonly atMs: number } & (
  | { readonly type: 'open' | 'close' }
  | { readonly type: 'bytes'; readonly base64: string }
  | {
      readonly type: 'line';
      readonly raw: string;
      readonly frame: WireFrame | null;
      readonly authed: boolean;
    }
  /** The sender's EOF; `rest` came after the last newline. */
  | { readonly type: 'end'; readonly rest: string }
  | { readonly type: 'error'; readonly code: string }
);

export type PeerMethod = 'publish' | 'update' | 'send' | 'control' | 'sendFrame' | 'sendBytes';

export type ChildMessage =
  | { readonly event: PeerEvent }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string };
