/** Run folders: unique, taken up by the same command, never by two processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writeAtomic } from '../../trainer/atomic.ts';
import { Diverged } from '../../trainer/divergence.ts';
import { gitCommit, openRun, RunError, type RunOptions } from '../../trainer/run.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

const SETTINGS = { seed: '7', levels: [1, 2], url: undefined };
const options = (root: string, changes: Partial<RunOptions> = {}): RunOptions => ({
  root,
  command: 'sft',
  settings: SETTINGS,
  ...changes,
});

const codeOf = (work: () => unknown): string => {
  try {
    work();
    return 'opened';
  } catch (error) {
    return error instanceof RunError ? error.code : String(error);
  }
};

test('a new run has a folder that says what made it', () => {
  const root = join(temporaryFolder(), 'runs');
  const run = openRun(options(root));
  expect(run.run_id).toMatch(/^sft-\d{8}-\d{6}$/);
  expect(run.resumed).toBe(false);
  const config = JSON.parse(readFileSync(join(root, run.run_id, 'config.json'), 'utf8')) as unknown;
  expect(config).toEqual({
    run_id: run.run_id,
    command: 'sft',
    node: process.version,
    settings: { seed: '7', levels: [1, 2] },
    ...(run.git_commit && { git_commit: run.git_commit }),
  });
});

test('the commit is that of the checkout', () => {
  const checkout = new URL('../../.git', import.meta.url);
  expect(gitCommit()).toEqual(existsSync(checkout) ? expect.stringMatching(/^[\da-f]{40}(-dirty)?$/) : undefined);
});

test('the same command takes up its run until there is a summary, then begins another', () => {
  const root = temporaryFolder();
  const first = openRun(options(root));
  first.release();
  const second = openRun(options(root));
  expect([second.run_id, second.resumed]).toEqual([first.run_id, true]);
  second.writeSummary({ mean_reward: 0.8 });
  expect(JSON.parse(readFileSync(second.file('summary.json'), 'utf8'))).toEqual({ mean_reward: 0.8 });
  second.release();
  const third = openRun(options(root));
  expect(third.resumed).toBe(false);
  expect(readdirSync(root).sort()).toEqual([first.run_id, third.run_id].sort());
});

test.each([
  ['other settings', { settings: { ...SETTINGS, seed: '8' } }],
  ['another command', { command: 'reinforce' }],
])('%s begin a run of their own', (_, changes) => {
  const root = temporaryFolder();
  openRun(options(root)).release();
  expect(openRun(options(root, changes)).resumed).toBe(false);
});

test('a run is named by its id, made where there is none, refused where it is another one', () => {
  const root = temporaryFolder();
  const run = openRun(options(root, { run_id: 'mine' }));
  expect([run.run_id, run.resumed]).toEqual(['mine', false]);
  run.release();
  expect(openRun(options(root, { run_id: 'mine' })).resumed).toBe(true);
  const others = [{ settings: { seed: '8' } }, { command: 'teach' }, { run_id: '../mine' }, { run_id: '..' }];
  const codes = others.map((changes) => codeOf(() => openRun(options(root, { run_id: 'mine', ...changes }))));
  expect(codes).toEqual(['settings_differ', 'settings_differ', 'bad_run_id', 'bad_run_id']);
});

test('a run that another process works on is left alone until that process is gone', async () => {
  const root = temporaryFolder();
  const { run_id } = openRun(options(root));
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  onTestFinished(() => void other.kill('SIGKILL'));
  writeFileSync(join(root, run_id, 'running.pid'), String(other.pid));
  expect(codeOf(() => openRun(options(root, { run_id })))).toBe('in_use');
  expect(openRun(options(root)).run_id).not.toBe(run_id);
  other.kill('SIGKILL');
  await once(other, 'exit');
  expect(openRun(options(root, { run_id })).resumed).toBe(true);
});

test('a folder without a config is no run to take up', () => {
  const root = temporaryFolder();
  mkdirSync(join(root, 'sft-19990101-000000'));
  expect(openRun(options(root)).resumed).toBe(false);
});

test('a file is replaced whole, and nothing is left beside it', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'summary.json');
  for (const content of ['x'.repeat(100_000), 'short']) writeAtomic(path, content);
  expect([readFileSync(path, 'utf8'), readdirSync(folder)]).toEqual(['short', ['summary.json']]);
});

test('an empty running.pid, left by a process that ended while it wrote it, holds nobody off', () => {
  const root = join(temporaryFolder(), 'runs');
  const first = openRun(options(root));
  writeFileSync(first.file('running.pid'), '');
  expect(codeOf(() => openRun(options(root, { run_id: first.run_id })))).toBe('opened');
});

test.runIf(existsSync('/proc/self/stat'))('an id that another process has by now holds nobody off', () => {
  const root = join(temporaryFolder(), 'runs');
  const first = openRun(options(root));
  writeFileSync(first.file('running.pid'), `${process.ppid} 12345`); // alive, but begun at another time
  expect(codeOf(() => openRun(options(root, { run_id: first.run_id })))).toBe('opened');
});

test('a run that went astray is refused with what was kept, until that is removed', () => {
  const root = join(temporaryFolder(), 'runs');
  const run = openRun(options(root));
  run.assertNotDiverged();
  run.writeDivergence(new Diverged('sft, step 3: bad'));
  expect(() => {
    run.assertNotDiverged();
  }).toThrow(/^sft, step 3: bad\. The same command ends the same way: .* remove .*diverged\.txt/);
  rmSync(run.file('diverged.txt'));
  run.assertNotDiverged();
});
