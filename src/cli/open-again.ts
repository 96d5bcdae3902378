import type { OpenOptions } from '../wrapper/options.ts';

/** The command line that opens this peer in another process, its checks already done. */
export function openAgain(
  options: OpenOptions,
  startedBy: 'detach' | 'window',
): readonly [string, ...string[]] {
  const entry = process.argv[1] ?? '';
  return [
    process.execPath,
    entry,
    'open',
    ...flagsOf(options),
    '--started-by',
    startedBy,
    '--',
    options.name,
  ];
}

function flagsOf({
  headless,
  model,
  effort,
  sandbox,
  approval,
  cwd,
  fresh,
  threadId,
  trust,
}: OpenOptions): string[] {
  const withValue = { model, effort, sandbox, approval, cwd, thread: threadId };
  const alone = { headless, new: fresh, trust };
  return [
    ...Object.entries(withValue).flatMap(([flag, value]) =>
      value === undefined ? [] : [`--${flag}=${value}`],
    ),
    ...Object.entries(alone).flatMap(([flag, isSet]) => (isSet ? [`--${flag}`] : [])),
  ];
}
