/** The shell commands that repeat a run: its sources, its settings as flags, its report. */
import type { Run } from '../../clients/store/index.ts';
import { toFlag } from '../../schemas/settings.ts';
import { placeFlags, quoted, type Places } from '../shell.ts';

/** @param places Where the run is kept, so that its repetition is kept there too. */
export function repeatCommands({ run_id, command, config, git_commit }: Run, places: Places): string[] {
  const flags = Object.entries(config).flatMap(([key, value]) => toWords(toFlag(key), value));
  const checkout = git_commit?.endsWith('-dirty') === false ? [`git checkout ${git_commit}`] : [];
  return [
    ...checkout,
    ['npm run canvas-gym --', command, ...flags, ...placeFlags(places)].join(' '),
    ['npm run canvas-gym -- report', quoted(run_id), ...placeFlags(places)].join(' '),
  ];
}

/** A setting as words of a command line; secrets, which the log does not hold, are left out. */
function toWords(flag: string, value: unknown): string[] {
  if (value === true) return [flag];
  if (value === false) return [flag.replace(/^--/, '--no-')];
  if (Array.isArray(value)) return [flag, quoted(value.join(','))];
  if (typeof value === 'number') return [flag, String(value)];
  return typeof value === 'string' && value !== '***' ? [flag, quoted(value)] : [];
}
