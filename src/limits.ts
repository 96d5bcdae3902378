/** Every cap of the product, in one place. Hitting one is told to somebody (see each use). */
export const LIMITS = {
  /** Messages waiting for one peer. */
  queueMessages: 1_000,
  /** UTF-8 bytes of message text waiting for one peer. */
  queueBytes: 64 * 1024 * 1024,
  /** Characters of one frame line with its newline; Claude Code 2.1.332 has the same cap. */
  frameChars: 1_048_576,
  /** Characters of one user input, our header included; Codex 0.171.0 refuses more (`input_too_large`). */
  codexInputChars: 1_048_576,
  /** With a pane attached, a longer body goes to a file: 900 kB inline freezes the TUI for 100 s (Codex 0.171.0). */
  paneBodyBytes: 32_000,
  /** How much of such a body the model still gets inline. */
  paneBodyHeadBytes: 2_000,
  /** Idle subscriptions held at once, and of one process. */
  subscriptions: 32,
  subscriptionsPerPid: 4,
  subscriptionMs: 12 * 60 * 60 * 1000,
  /** Questions of the peer's own tool `ask` that wait at once, and the longest deadline of one. */
  openAsks: 32,
  askDeadlineSeconds: 12 * 60 * 60,
  /** Results of tool calls that are kept for a call that comes again. */
  toolCalls: 256,
  /** Idle notices that a peer waits for itself. */
  ownSubscriptions: 256,
  /** Lines about its own messages that a peer is told with the next message. */
  newsLines: 20,
  /** Characters that those may take in front of it. */
  newsChars: 40_000,
  /** Frames, and their characters, that wait to be written to one recipient. */
  outboxFrames: 1_024,
  outboxChars: 64 * 1024 * 1024,
  /** With so many waiting a receipt for a refused frame is not sent: a flood of these must not delay answers. */
  outboxBeforeReceipt: 32,
  /** A receiver that drops what is paced has another idea of the pace; after so many resends it is told no more. */
  resends: 3,
  /** Characters of written answers kept for a receipt that asks for them again. */
  sentChars: 16 * 1024 * 1024,
  /** How long texts too long to be shown are kept in files. */
  textsMs: 14 * 24 * 60 * 60 * 1000,
  /** (from, msg_id) pairs remembered against replays. */
  replayWindow: 1_024,
  /** A connection that completes no line for this long is closed. */
  lineTimeoutMs: 30_000,
  /** From a sender's EOF to ours: Claude Code 2.1.332 takes 5 s without it for a failure. */
  recordMs: 3_000,
  /** How long one call to the store may wait for another process's lock; then it is tried again, up to `recordMs`. */
  storeBusyMs: 50,
  /** What is settled is kept this long; what is open stays. */
  retentionMs: 14 * 24 * 60 * 60 * 1000,
  /** One frame to another peer, from connect to its EOF. */
  sendMs: 5_000,
  /** Characters of a message id that are kept; a longer one counts as none. */
  msgIdChars: 128,
  /** Bytes of a socket path; Claude Code 2.1.332 uses its short folder past this. */
  socketPathBytes: 103,
  /** Recipients whose pace is remembered. */
  pacedRecipients: 1_024,
  /** Connections one peer serves at once, and of one process. */
  connections: 256,
  connectionsPerPid: 64,
  /** One line on a control socket; a tool call's text of the longest message, escaped, fits. */
  controlLineChars: 8 * 1_048_576,
  /** Connections to one peer's control socket, and calls open on one of them. */
  controlConnections: 64,
  controlCalls: 32,
  /** Bytes of answers that wait for a caller to read them; past this nothing more is read from it. */
  controlUnreadBytes: 1024 * 1024,
  /** A file of another program that is read whole: rows and keys are about 1 kB, a larger file is none of them. */
  smallFileBytes: 256 * 1024,
  /** Hop-chain entries carried at most (Claude Code 2.1.332 drops 29). */
  hopEntries: 28,
  /** A chain that holds our own token this often is a loop. */
  hopOwnToken: 10,
  /** Claude Code's receiver: this many messages in a burst … */
  burst: 30,
  /** … then one per this many milliseconds. */
  refillMs: 2_000,
  /** One JSON-RPC call to the harness. */
  rpcMs: 30_000,
  /** One frame from the harness; a thread's items can hold whole files. */
  rpcFrameBytes: 256 * 1024 * 1024,
  /** `codex app-server daemon start`; the first one copies 424 MB (Codex 0.171.0). */
  daemonStartMs: 60_000,
  /** How long `open` waits for a daemon that finishes its turns before a restart (it takes up to 60 s). */
  openDrainMs: 75_000,
  /** Settled messages whose outcome is still known to a wrapper without a store. */
  settledMessages: 1_024,
  /** Bytes of one log file; two are kept. */
  logBytes: 5 * 1024 * 1024,
  /** Characters of one string in the log. */
  logString: 2_048,
} as const;
