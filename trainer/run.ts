/**
 * Run folders: `<root>/<run_id>/` with `config.json` (command, resolved settings, versions, commit), checkpoints, report
 * and, once the run is complete, `summary.json`. The same command with the same settings takes up its unfinished run;
 * a file named `running.pid` keeps two processes from taking up the same one, and `diverged.txt` says why one cannot go on.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { isAlive, startOf, writeAtomic } from './atomic.ts';
import { Diverged } from './divergence.ts';

export interface RunOptions {
  /** Where run folders are kept: `runs`. */
  root: string;
  command: string;
  /** Resolved settings without secrets, see `toPrintable`. */
  settings: Readonly<Record<string, unknown>>;
  /** Take up or create this run instead of looking for an unfinished one. */
  run_id?: string | undefined;
}

export interface RunFolder {
  run_id: string;
  /** Path of the folder. */
  path: string;
  /** Whether an earlier process began it. */
  resumed: boolean;
  /** Commit of the sources it began with, `-dirty` where they were changed. */
  git_commit?: string | undefined;
  /** Path of a file in the folder. */
  file(...names: string[]): string;
  /** Keeps why the run cannot go on: from then on it is refused, since it would end the same way. */
  writeDivergence(error: Diverged): void;
  /** @throws Diverged with what was kept */
  assertNotDiverged(): void;
  /** Writes `summary.json`, which marks the run as complete. */
  writeSummary(summary: Readonly<Record<string, unknown>>): void;
  /** Lets others take the run up. */
  release(): void;
}

interface RunConfig {
  run_id: string;
  command: string;
  git_commit?: string;
  settings: Record<string, unknown>;
}

export class RunError extends Error {
  readonly code: 'settings_differ' | 'in_use' | 'bad_run_id';
  constructor(code: RunError['code'], message: string) {
    super(message);
    this.name = 'RunError';
    this.code = code;
  }
}

/** Commit of the checkout these sources are in, if they are in one. */
export function gitCommit(): string | undefined {
  const roots = ['..', '../..'].map((up) => fileURLToPath(new URL(up, import.meta.url)));
  const root = roots.find((path) => existsSync(join(path, '.git')));
  if (root === undefined) return undefined;
  try {
    const args = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude', '*'];
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined; // git itself is missing
  }
}

/** `sft-20260530-141207`, in UTC. */
function newRunId(command: string, at: Date): string {
  return `${command}-${at.toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')}`;
}

function readConfig(folder: string): RunConfig | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as RunConfig;
  } catch {
    return undefined; // no run folder, or one that was cut off before it began
  }
}

/** Whether a live process other than this one works in the folder. */
export function isInUse(folder: string): boolean {
  const [id = '', start = ''] = readOwner(folder).split(' ');
  const pid = Number(id);
  if (!(pid > 0) || pid === process.pid || !isAlive(pid)) return false; // empty: its process ended while it wrote the file
  return start === '' || startOf(pid) === start; // else the id belongs to another process by now
}

function readOwner(folder: string): string {
  try {
    return readFileSync(join(folder, 'running.pid'), 'utf8');
  } catch {
    return ''; // nobody
  }
}

const DIVERGENCE = 'diverged.txt';

function kept(file: string): Diverged {
  const advice = `change what it says, or remove ${file} to go on from the last checkpoint all the same`;
  return new Diverged(`${readFileSync(file, 'utf8').trim()}. The same command ends the same way: ${advice}`);
}

/** JSON as it comes back from a file, to compare settings with stored ones. */
function stored(settings: Readonly<Record<string, unknown>>): unknown {
  return JSON.parse(JSON.stringify(settings));
}

function findUnfinished({ root, command, settings }: RunOptions): string | undefined {
  const folders = existsSync(root) ? readdirSync(root).sort().reverse() : [];
  return folders.find((run_id) => {
    const folder = join(root, run_id);
    const config = readConfig(folder);
    if (config?.command !== command || existsSync(join(folder, 'summary.json'))) return false;
    return isDeepStrictEqual(config.settings, stored(settings)) && !isInUse(folder);
  });
}

/** Runs `create`; false where the file or folder is there already. */
function createdAnew(create: () => unknown): boolean {
  try {
    create();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function makeRoot(root: string): void {
  try {
    mkdirSync(root, { recursive: true });
  } catch {
    mkdirSync(root); // tells the reason, where the recursive one says ENOENT on a disk that is read-only
  }
}

/** A folder of its own for a new run: the time's name, with a number where another run began in the same second. */
function createFolder(root: string, command: string): string {
  makeRoot(root);
  const name = newRunId(command, new Date());
  for (let number = 1; ; number++) {
    const run_id = number === 1 ? name : `${name}-${number}`;
    if (
      createdAnew(() => {
        mkdirSync(join(root, run_id));
      })
    )
      return run_id;
  }
}

/** @throws RunError in_use where another live process holds the folder. */
function claim(folder: string): void {
  const path = join(folder, 'running.pid');
  const owner = `${process.pid} ${startOf(process.pid)}`.trim();
  mkdirSync(folder, { recursive: true });
  if (
    createdAnew(() => {
      writeFileSync(path, owner, { flag: 'wx' });
    })
  )
    return;
  if (isInUse(folder)) throw new RunError('in_use', `${folder} is in use by another process`);
  writeFileSync(path, owner); // its process is gone
}

function changedKeys(a: Record<string, unknown>, b: Record<string, unknown>): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => !isDeepStrictEqual(a[key], b[key]));
}

/** @throws RunError where the folder holds a run of other settings. */
function assertSame(folder: string, config: RunConfig, { command, settings }: RunOptions): void {
  const differing = changedKeys(config.settings, stored(settings) as Record<string, unknown>);
  const names = config.command === command ? differing : ['command', ...differing];
  if (names.length > 0) throw new RunError('settings_differ', `${folder} was begun with other ${names.join(', ')}`);
}

/**
 * Opens the folder of a run: the one named, else the newest unfinished one of the same command and settings, else a new one.
 * @throws RunError
 */
export function openRun(options: RunOptions): RunFolder {
  const { root, command, settings } = options;
  if (options.run_id !== undefined && !/^[\w.-]*\w[\w.-]*$/.test(options.run_id)) {
    throw new RunError('bad_run_id', `${JSON.stringify(options.run_id)}: letters, digits, "-", "_" and "." only`);
  }
  const run_id = options.run_id ?? findUnfinished(options) ?? createFolder(root, command);
  const path = join(root, run_id);
  const found = readConfig(path);
  if (found) assertSame(path, found, options);
  claim(path);
  const git_commit = found ? found.git_commit : gitCommit();
  if (!found) {
    const config = { run_id, command, git_commit, node: process.version, settings };
    writeAtomic(join(path, 'config.json'), `${JSON.stringify(config, null, 2)}\n`);
  }
  const file = (...names: string[]): string => join(path, ...names);
  return {
    ...{ run_id, path, resumed: found !== undefined, git_commit, file },
    writeDivergence: ({ message }) => {
      if (!existsSync(file(DIVERGENCE))) writeAtomic(file(DIVERGENCE), `${message}\n`);
    },
    assertNotDiverged: () => {
      if (existsSync(file(DIVERGENCE))) throw kept(file(DIVERGENCE));
    },
    writeSummary: (summary) => {
      writeAtomic(file('summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
    },
    release: () => {
      rmSync(file('running.pid'), { force: true });
    },
  };
}
