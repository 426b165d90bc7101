/** Commands for a reader to type next, as words of a POSIX shell. */
import { SHARED_SETTINGS } from '../schemas/settings.ts';

/** Where a run is kept. */
export interface Places {
  db: string;
  runs: string;
}

/** One word of a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w.,:/@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Flags by which another command finds the same log and run folders: none where they are the usual ones. */
export function placeFlags({ db, runs }: Partial<Places>): string[] {
  return [
    ...(db === undefined || db === SHARED_SETTINGS.db.parse(undefined) ? [] : ['--db', quoted(db)]),
    ...(runs === undefined || runs === SHARED_SETTINGS.runs.parse(undefined) ? [] : ['--runs', quoted(runs)]),
  ];
}

/** How the command line is called here: in a checkout through npm, else as an installed package. */
function program(): string {
  return process.argv[1]?.endsWith('.ts') ? 'npm run canvas-gym --' : 'npx canvas-gym';
}

/** A command to type here, e.g. `nextCommand(settings, 'sft', '--dataset', file)`, with the flags of the places it takes. */
export function nextCommand(places: Partial<Places>, ...words: readonly string[]): string {
  return [program(), ...words.map(quoted), ...placeFlags(places)].join(' ');
}
