/**
 * REINFORCE through the real command line while the world around it fails: a full disk, a locked or foreign database, a
 * server that goes away, a place that cannot be written, training that goes astray. Each time a clear message and exit
 * code 1 or a run that goes on; nothing is corrupt, and the same command, once the world is well again, ends like a run that
 * nobody disturbed. Full and read-only disks are real
 * ones, small, in memory, which wants Linux with user namespaces.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../clients/store/index.ts';
import { startCli } from '../cli/command-line.ts';
import { freePort } from '../tools/processes.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';
import { listenTo, placeIn, resultOf, runFolders, SMALL, startRun, type Flags, type Place } from './small-run.ts';

const LONG = { timeout: 600_000 };
const base = mkdtempSync(join(tmpdir(), 'canvas-gym-faults-'));
const FLAGS: Flags = {
  ...{ steps: 8, 'tasks-per-step': 2, 'group-size': 3, 'max-new-tokens': 24, 'rl-checkpoint-every': 2 },
  ...{ baseline: 'moving_mean', 'entropy-bonus': 0.01, checkpoint: join(base, 'runs', 'sft', 'sft') },
};
let expected: ReturnType<typeof resultOf>;

async function succeed(command: string, place: Place, flags: Flags): Promise<void> {
  const { ended, said } = startRun(command, place, flags);
  expect(await ended, said.err).toBe(0);
}

beforeAll(async () => {
  const place = placeIn(base);
  const { tasks, layers, validation } = SMALL;
  await succeed('teach', place, { 'run-id': 'teach', tasks });
  const dataset = join(place.runs, 'teach', 'dataset.jsonl');
  await succeed('sft', place, { 'run-id': 'sft', dataset, layers, validation, 'max-tokens': 3000 });
  const whole = placeIn(join(base, 'whole'));
  await succeed('reinforce', whole, FLAGS);
  expected = resultOf(whole);
}, 300_000);

afterAll(() => {
  rmSync(base, { recursive: true });
});

function expectSame(place: Place): void {
  const { files, log } = resultOf(place);
  expect(files).toEqual(expected.files);
  for (const [table, rows] of Object.entries(expected.log)) expect(log[table], table).toEqual(rows);
}

const stepOf = (place: Place): number => {
  const file = join(place.runs, runFolders(place)[0] ?? '', 'rl', 'trainer_state.json');
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { state: { optimizer_step: number } }).state.optimizer_step;
  } catch {
    return 0; // not yet, or just being replaced
  }
};

async function untilStep(place: Place, step: number, child: ChildProcess): Promise<void> {
  while (stepOf(place) < step) {
    if (child.exitCode !== null) throw new Error(`it ended before step ${step}`);
    await sleep(5);
  }
}

const statusOf = ({ db }: Place): { status: string; summary: unknown } => {
  const store = openStore(db, { readonly: true });
  try {
    const { status, summary } = store.getRun();
    return { status, summary };
  } finally {
    store.close();
  }
};

/** Runs reinforce with `runs` or `db` on a disk mounted with `options`, and leaves what is on it in `place` afterwards. */
async function onDiskOfItsOwn(
  place: Place,
  options: string,
  part: 'runs' | 'db',
): Promise<{ code: unknown; err: string }> {
  const disk = temporaryFolder();
  const inner = { ...place, [part]: part === 'runs' ? join(disk, 'runs') : join(disk, 'log.db') };
  const script = `mount -t tmpfs -o ${options} none "$1" || exit 99
    "$2" --import "$3" "$4" reinforce $5; code=$?; cp -r "$1"/. "$6"; exit $code`;
  const words = Object.entries({ ...FLAGS, ...inner }).map(([flag, value]) => `--${flag}=${value}`);
  const [node, , tsx, main] = startCli(['help']).spawnargs as [string, string, string, string];
  const args = ['--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', disk, node, tsx, main];
  const target = part === 'runs' ? join(place.runs, '..') : join(place.db, '..');
  mkdirSync(target, { recursive: true });
  const { ended, said } = listenTo(spawn('unshare', [...args, words.join(' '), target]));
  const code = await ended;
  expect(code, said.err).not.toBe(99);
  return { code, err: said.err };
}

const sizeOf = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + readFileSync(join(folder, name)).length, 0);

test('a disk that is full when a checkpoint is due: the one before stays', LONG, async () => {
  const place = placeIn(temporaryFolder());
  const whole = placeIn(join(base, 'whole'));
  const checkpoint = sizeOf(join(whole.runs, runFolders(whole)[0]!, 'rl'));
  const { code, err } = await onDiskOfItsOwn(place, `size=${Math.round(1.5 * checkpoint)}`, 'runs');
  expect(err).toMatch(/the checkpoint .*rl could not be saved \(ENOSPC.*the same command goes on from there/);
  expect([code, stepOf(place), statusOf(place).status]).toEqual([1, 2, 'failed']);
  expect(readdirSync(join(place.runs, runFolders(place)[0]!)).filter((name) => name.startsWith('rl'))).toEqual(['rl']);
  await succeed('reinforce', place, FLAGS);
  expectSame(place);
});

test('a disk that the log fills', LONG, async () => {
  const place = placeIn(temporaryFolder());
  const { code, err } = await onDiskOfItsOwn(place, 'size=400000', 'db');
  expect(err).toMatch(/log\.db: .*(full|disk I\/O).*the same command goes on from the last checkpoint/);
  expect(code).toBe(1);
  await succeed('reinforce', place, FLAGS);
  expectSame(place);
});

test('a log that another process holds: it waits ten seconds, then says so', LONG, async () => {
  const place = placeIn(temporaryFolder());
  const first = startRun('reinforce', place, FLAGS);
  await untilStep(place, 2, first.child);
  const other = new Sqlite(place.db);
  other.exec('BEGIN IMMEDIATE');
  await sleep(3000);
  other.exec('ROLLBACK');
  await untilStep(place, 4, first.child);
  other.exec('BEGIN IMMEDIATE');
  expect(await first.ended).toBe(1);
  expect(first.said.err).toMatch(/log\.db: database is locked .*the same command goes on from the last checkpoint/);
  other.exec('ROLLBACK');
  other.close();
  await succeed('reinforce', place, FLAGS);
  expectSame(place);
});

test.each([
  ['the database of another program', (file: string) => new Sqlite(file).exec('CREATE TABLE notes (text)').close()],
  [
    'not a database',
    (file: string) => {
      writeFileSync(file, 'a letter to a friend, of some length'.repeat(9));
    },
  ],
  [
    'schema version 9999',
    (file: string) => {
      openStore(file).close();
      const db = new Sqlite(file);
      db.pragma('user_version = 9999');
      db.close();
    },
  ],
])('%s is not written to', LONG, async (what, make) => {
  const place = placeIn(temporaryFolder());
  make(place.db);
  const before = readFileSync(place.db);
  const { ended, said } = startRun('reinforce', place, FLAGS);
  expect(await ended).toBe(1);
  expect(said.err).toContain(what);
  expect(said.err.trim().split('\n')).toHaveLength(1);
  expect(readFileSync(place.db).equals(before)).toBe(true);
});

test('runs in a place that cannot be written', LONG, async () => {
  const place = placeIn(temporaryFolder());
  const { code, err } = await onDiskOfItsOwn(place, 'ro', 'runs');
  expect(code).toBe(1);
  expect(err).toMatch(/^canvas-gym reinforce: EROFS: read-only file system, mkdir '.*runs'\n$/);
  expect(existsSync(place.db)).toBe(false);
});

async function serve(port: number): Promise<ChildProcess> {
  const child = startCli(['serve', '--host', '127.0.0.1', '--port', String(port)]);
  const { said } = listenTo(child);
  while (!said.out.includes('http://')) await sleep(20);
  return child;
}

test('a server that is gone for 30 s', LONG, async () => {
  const place = placeIn(temporaryFolder());
  const port = await freePort();
  const first = await serve(port);
  const run = startRun('reinforce', place, { ...FLAGS, url: `http://127.0.0.1:${port}` });
  await untilStep(place, 2, run.child);
  first.kill('SIGKILL');
  await sleep(30_000);
  const second = await serve(port);
  expect(await run.ended, run.said.err).toBe(0);
  second.kill('SIGKILL');
  expectSame(place);
});

test('a server that never comes back', LONG, async () => {
  const place = placeIn(temporaryFolder());
  const port = await freePort();
  const server = await serve(port);
  const run = startRun('reinforce', place, { ...FLAGS, url: `http://127.0.0.1:${port}` });
  await untilStep(place, 2, run.child);
  server.kill('SIGKILL');
  expect(await run.ended).toBe(1);
  expect(run.said.err).toMatch(/no answer from .*the same command goes on from the last checkpoint\n$/);
  expect(statusOf(place).status).toBe('failed');
  await succeed('reinforce', place, FLAGS); // with a server of its own: where the environment is, is no setting of the run
  expectSame(place);
});

test('a checkpoint that is not whole', LONG, async () => {
  const place = placeIn(temporaryFolder());
  const run = startRun('reinforce', place, FLAGS);
  await untilStep(place, 4, run.child);
  run.child.kill('SIGKILL');
  await run.ended;
  const checkpoint = join(place.runs, runFolders(place)[0]!, 'rl');
  const aside = join(temporaryFolder(), 'rl');
  cpSync(checkpoint, aside, { recursive: true });
  writeFileSync(
    join(checkpoint, 'model.safetensors'),
    readFileSync(join(aside, 'model.safetensors')).subarray(0, 5000),
  );
  const cut = startRun('reinforce', place, FLAGS);
  expect(await cut.ended).toBe(1);
  expect(cut.said.err).toMatch(/model\.safetensors: the file is cut.*remove .*rl to begin this stage anew/);
  rmSync(checkpoint, { recursive: true });
  await succeed('reinforce', place, FLAGS);
  expectSame(place);
});

test('asked to stop once it stops at the next step, asked twice at once', LONG, async () => {
  const place = placeIn(temporaryFolder());
  const once_ = startRun('reinforce', place, FLAGS);
  await untilStep(place, 2, once_.child);
  once_.child.kill('SIGINT');
  expect(await once_.ended).toBe(1);
  expect(once_.said.err).toMatch(/interrupted at step \d+; the same command goes on from there/);
  expect(statusOf(place).status).toBe('interrupted');
  const twice = startRun('reinforce', place, FLAGS);
  while (!twice.said.err.includes('reinforce  ')) await sleep(5);
  twice.child.kill('SIGTERM');
  await sleep(1);
  twice.child.kill('SIGTERM');
  expect(await twice.ended).toBe(1);
  await succeed('reinforce', place, FLAGS);
  expectSame(place);
});

test('a policy that runs away from its reference: stopped before it is saved, and not begun again', LONG, async () => {
  const place = placeIn(temporaryFolder());
  const wild = { ...FLAGS, steps: 12, 'rl-warmup-steps': 4, 'rl-muon-lr': 2, 'rl-adamw-lr': 0.5 };
  const run = startRun('reinforce', place, wild);
  expect(await run.ended).toBe(1);
  expect(run.said.err).toMatch(/nats a token from the one it started from, over --max-kl 2: lower --rl-muon-lr/);
  const last = stepOf(place);
  expect(statusOf(place)).toMatchObject({
    status: 'failed',
    summary: { error: expect.stringContaining('max-kl') as string },
  });
  const again = startRun('reinforce', place, wild);
  expect(await again.ended).toBe(1);
  expect(again.said.err).toMatch(/max-kl 2: .*The same command ends the same way: change what it says, or remove /);
  expect(again.said.err).not.toContain('reinforce  '); // it did not train
  expect(stepOf(place)).toBe(last);
});

test.each([
  ['report', (place: Place) => ['report', '--db', place.db, '--runs', place.runs, '--output']],
  ['export', (place: Place) => ['export', '--db', place.db, '--out']],
])('%s killed while it writes leaves the file of before', LONG, async (_, words) => {
  const file = join(temporaryFolder(), 'out');
  const args = [...words(placeIn(join(base, 'whole'))), file];
  const { ended, said } = listenTo(startCli(args));
  expect(await ended, said.err).toBe(0);
  const before = readFileSync(file);
  for (const delay of [400, 700, 1000, 1300, 1600]) {
    const run = listenTo(startCli(args));
    await Promise.race([sleep(delay), run.ended]);
    run.child.kill('SIGKILL');
    await run.ended;
    expect(readFileSync(file).length).toBeGreaterThan(before.length / 2);
    expect(readFileSync(file).subarray(-8)).toEqual(before.subarray(-8));
  }
});
