import { readFileSync } from 'node:fs';

/** Frames as Claude Code writes them, each with the auth line before it; ids, paths and token made up. */
export interface ClaudeFrames {
  readonly program: string;
  readonly measured: string;
  readonly auth: string;
  /** A message in a turn that a person began. */
  readonly user: string;
  /** `notify_when_idle`, on a connection of its own after the message. */
  readonly subscription: string;
  /** A message in a turn that a verified peer's message began, which had the first token as its chain. */
  readonly chained: string;
}

const FIXTURE = new URL('../frames/fixtures/claude-2.1.332-user-frame.json', import.meta.url);

export function pinnedFrames(): ClaudeFrames {
  return JSON.parse(readFileSync(FIXTURE, 'utf8')) as ClaudeFrames;
}

/** Replaces what differs from run to run, every id of a kind by the same one, and nothing else. */
export function anonymous(line: string): string {
  return line
    .replace(/"token":"[0-9a-f]{32}"/, '"token":"0123456789abcdef0123456789abcdef"')
    .replace(
      /"msg_id":"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"/,
      '"msg_id":"0b9c7a52-1111-4222-8333-944455566677"',
    )
    .replace(/uds:[^"\\]*\/cc-socks\/\d+\.sock/g, 'uds:/run/user/1000/cc-socks/4242.sock')
    .replace(/(?<=hop-chain=\\"|"local_chain":"|,)[0-9a-f]{24}(?=[,"\\])/g, 'c0ffee00c0ffee00c0ffee00');
}
