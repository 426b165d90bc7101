/** A small quickstart through the real command line, in a folder of its own, and all that it leaves behind, to compare two runs. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildProcess } from 'node:child_process';
import { openStore } from '../../clients/store/index.ts';
import { startCli } from '../cli/command-line.ts';

export const SMALL = {
  ...{ tasks: 80, layers: 1, validation: 8, 'max-tokens': 12_000, 'sft-checkpoint-every': 2 },
  ...{ steps: 6, 'tasks-per-step': 2, 'group-size': 4, 'max-new-tokens': 40, 'rl-checkpoint-every': 1 },
  ...{ baseline: 'moving_mean', 'entropy-bonus': 0.01 }, // so that there is a gradient where no completion has a reward
  ...{ 'eval-tasks': 8, 'eval-max-new-tokens': 40 },
};

export type Flags = Readonly<Record<string, string | number>>;

/** Where a run is kept. */
export interface Place {
  runs: string;
  db: string;
}

export const placeIn = (folder: string): Place => ({ runs: join(folder, 'runs'), db: join(folder, 'log.db') });

export interface Started {
  child: ChildProcess;
  said: { out: string; err: string };
  /** Exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
}

/** Starts a command with flags, and listens. */
export function startRun(command: string, place: Place, flags: Flags): Started {
  const all: Flags = { ...flags, ...place };
  const words = Object.entries(all).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
  const child = startCli([command, ...words]);
  return listenTo(child);
}

export function listenTo(child: ChildProcess): Started {
  const said = { out: '', err: '' };
  child.stdout!.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr!.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.on('close', (code, signal) => {
      resolve(code ?? signal!);
    });
  });
  return { child, said, ended };
}

/** Folders of runs, without one that was cut off before it had its config.json. */
export function runFolders({ runs }: Place): string[] {
  if (!existsSync(runs)) return [];
  return readdirSync(runs).filter((name) => existsSync(join(runs, name, 'config.json')));
}

/** Files that hold times or places; all others are the same in every run. */
const OF_THE_DAY = new Set(['config.json', 'summary.json', 'report.html']);

const TABLES = {
  teacher_samples: 'SELECT * FROM teacher_samples ORDER BY sample_id',
  episodes: 'SELECT * FROM episodes ORDER BY episode_id',
  steps: 'SELECT * FROM steps ORDER BY episode_id, turn',
  metrics: `SELECT * FROM metrics WHERE name NOT LIKE 'time/%' AND name NOT LIKE 'perf/%' ORDER BY stage, name, optimizer_step`,
  judgments: 'SELECT * FROM judgments',
  runs: 'SELECT command, status, seed, config FROM runs',
};

export interface Result {
  files: Record<string, string>;
  log: Record<string, string[]>;
}

/** What a run left: the hash of each file in its folder, and each row of the log without its run id. */
export function resultOf(place: Place): Result {
  const [run_id, ...others] = runFolders(place);
  if (run_id === undefined || others.length > 0) throw new Error(`${String(others.length)} other runs`);
  const folder = join(place.runs, run_id);
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'running.pid') // there after a kill; the next owner replaces it
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
  const hash = (name: string): string =>
    OF_THE_DAY.has(name)
      ? ''
      : createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex');
  const store = openStore(place.db, { readonly: true });
  try {
    const rowsOf = (sql: string): string[] => store.query(sql).map((row) => toText({ ...row, run_id: undefined }));
    const log = Object.fromEntries(Object.entries(TABLES).map(([table, sql]) => [table, rowsOf(sql)]));
    return { files: Object.fromEntries(names.map((name) => [name, hash(name)])), log };
  } finally {
    store.close();
  }
}

function toText(row: object): string {
  return JSON.stringify(row, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  );
}
