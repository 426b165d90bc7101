/**
 * The quickstart through the real command line, small: killed while it trains, started again, and read from outside
 * (what it printed, the run folder, the log, the report).
 */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../../clients/store/index.ts';
import { startCli } from '../cli/command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'canvas-gym-quickstart-'));
const runs = join(folder, 'runs');
const db = join(runs, 'log.db');
const SMALL = {
  ...{ tasks: 80, layers: 1, validation: 8, 'max-tokens': 12_000, 'sft-checkpoint-every': 2 },
  ...{ steps: 2, 'tasks-per-step': 2, 'max-new-tokens': 40, 'rl-checkpoint-every': 1 },
  ...{ 'eval-tasks': 8, 'eval-max-new-tokens': 40 },
};

function start() {
  const settings = Object.entries({ ...SMALL, runs, db }).flatMap(([flag, value]) => [`--${flag}`, String(value)]);
  const child = startCli(['quickstart', ...settings]);
  const said = { out: '', err: '' };
  child.stdout!.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr!.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  return { child, said };
}

const runIds = (): string[] => readdirSync(runs).filter((name) => name.startsWith('quickstart-'));

let printed: string;

beforeAll(async () => {
  const first = start();
  while (!(existsSync(runs) && runIds().some((id) => existsSync(join(runs, id, 'sft'))))) {
    if (first.child.exitCode !== null) throw new Error(first.said.err);
    await sleep(20);
  }
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  const second = start();
  const [code] = (await once(second.child, 'close')) as [number];
  expect(code, second.said.err).toBe(0);
  printed = second.said.out;
}, 120_000);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('the second start takes up the run of the first', () => {
  expect(runIds()).toHaveLength(1);
  expect(printed).toContain(`run ${runIds()[0]!} (taken up again)`);
});

test('its last lines are the table of rewards, the report, and three commands to try', () => {
  const lines = printed.trimEnd().split('\n');
  const head = lines.findIndex((line) => line.startsWith('policy'));
  expect(lines[head]).toMatch(/weak +article +stronger +graded/);
  expect(lines.slice(head + 1, head + 4).map((line) => line.split(' ')[0])).toEqual(['teacher', 'sft', 'rl-2']);
  const report = lines.find((line) => line.startsWith('report: '))!.slice('report: '.length);
  expect(readFileSync(report, 'utf8')).toMatch(/^<!doctype html>[^]*<svg/);
  expect(lines.slice(-4)[0]).toBe('try next:');
});

test('summary.json has seconds and rewards of every stage', () => {
  const summary = JSON.parse(readFileSync(join(runs, runIds()[0]!, 'summary.json'), 'utf8')) as {
    seconds: Record<string, number>;
    rewards: { policy: string; mean: Record<string, number> }[];
  };
  expect(Object.keys(summary.seconds)).toEqual(['teach', 'sft', 'reinforce', 'evaluate']);
  expect(Object.values(summary.seconds).every((seconds) => seconds > 0)).toBe(true);
  expect(summary.rewards.map(({ policy }) => policy)).toEqual(['teacher', 'sft', 'rl-2']);
  expect(Object.keys(summary.rewards[0]!.mean)).toEqual(['weak', 'article', 'stronger', 'graded']);
});

test('everything is in the log, once', () => {
  const store = openStore(db, { readonly: true });
  const { run_id, status } = store.getRun();
  expect(status).toBe('done');
  const count = (sql: string): unknown => store.query(sql, run_id)[0]!['n'];
  expect(count('SELECT count(*) AS n FROM teacher_samples WHERE run_id = ?')).toBe(80 * 4);
  expect(count(`SELECT count(*) AS n FROM episodes WHERE run_id = ? AND stage = 'reinforce'`)).toBe(2 * 2 * 8);
  expect(count(`SELECT count(*) AS n FROM episodes WHERE run_id = ? AND stage = 'evaluate'`)).toBe(3 * 8);
  const steps = store.metric(run_id, 'sft', 'loss/sft').map(({ optimizer_step }) => optimizer_step);
  expect(steps).toEqual(steps.map((_, i) => i + 1));
  store.close();
});
