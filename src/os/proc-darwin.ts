import type { ProcessEntry } from './proc.ts';

/** The start is `LC_ALL=C TZ=UTC ps -o lstart=`, the form Claude Code 2.1.332 uses where there is no /proc. */
export function readProcess(pid: number): ProcessEntry | null {
  const line = output('ps', ['-o', 'state=,lstart=', '-p', String(pid)]);
  const match = /^(\S)\S*\s+(.+)$/.exec(line);
  return match?.[1] === undefined || match[2] === undefined ? null : { state: match[1], start: match[2] };
}

export function pidDomain(): string {
  const uuid = /"IOPlatformUUID" = "([^"]+)"/.exec(output('ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice']));
  return `darwin:${uuid?.[1] ?? ''}`;
}

function output(command: string, args: readonly string[]): string {
  // Loaded here, so that Linux never pays for it.
  const { execFileSync } = process.getBuiltinModule('node:child_process');
  try {
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
    return execFileSync(command, args, { env, timeout: 1_000, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString('utf8')
      .trim();
  } catch {
    return '';
  }
}
