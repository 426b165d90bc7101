/** Reading in pages: every row once, in order, and a reader that stops halfway holds nothing up. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore, type Store } from '../../clients/store/index.ts';
import { episode, episodes, openLog, RUN, sample } from './records.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

test('pages of episodes hold every episode of the stage once, though others are written in between', () => {
  const store = openLog();
  store.recordEpisodes(RUN, 'sft', episodes(25));
  store.recordEpisodes(RUN, 'reinforce', episodes(5));
  const seen: (string | null)[] = [];
  for (let after = 0; ;) {
    const page = store.episodes({ run_id: RUN, stage: 'sft', after, limit: 10 });
    if (page.length === 0) break;
    seen.push(...page.map(({ task_id }) => task_id));
    after = page.at(-1)!.episode_id;
    store.recordEpisodes(RUN, 'other', episodes(3, { optimizer_step: after }));
  }
  expect(seen).toEqual(episodes(25).map(({ task_id }) => task_id));
});

test('runs come newest first in pages, and the last one is the one begun last', () => {
  const store = openStore(':memory:');
  onTestFinished(store.close);
  const names = ['c', 'a', 'd', 'b'];
  for (const run_id of names) store.createRun({ run_id, command: 'sft', config: {} });
  store.query(`UPDATE runs SET started_at = '2026-05-30T00:00:0' || instr('cadb', run_id) || 'Z' RETURNING run_id`);
  expect(store.listRuns().map(({ run_id }) => run_id)).toEqual(['b', 'd', 'a', 'c']);
  expect(store.listRuns({ before: 'd', limit: 1 }).map(({ run_id }) => run_id)).toEqual(['a']);
  expect(store.getRun().run_id).toBe('b');
});

describe('the last run that has something', () => {
  /** Runs of single stages, oldest first, and at last one that has nothing yet. */
  function stagesLog(): Store {
    const store = openStore(':memory:');
    onTestFinished(store.close);
    const runs = ['teach', 'reinforce', 'evaluate', 'sft', 'teach-2', 'nothing'];
    for (const run_id of runs) store.createRun({ run_id, command: run_id, config: {} });
    const number = runs.map((run_id, i) => `WHEN '${run_id}' THEN ${i}`).join(' ');
    store.query(`UPDATE runs SET started_at = '2026-05-30T00:00:0' || CASE run_id ${number} END || 'Z' RETURNING 1`);
    for (const run_id of ['teach', 'teach-2']) store.recordTeacherSamples(run_id, [sample(1)]);
    for (const run_id of ['reinforce', 'evaluate']) store.recordEpisodes(run_id, run_id, episodes(2));
    store.recordMetrics('sft', 'sft', 1, { 'loss/sft': 2 });
    store.recordMetrics('nothing', 'teach', 0, { 'time/stage_s': 2 });
    return store;
  }

  test('the view last_run is the one of the queries on episodes', () => {
    const store = stagesLog();
    expect(store.query('SELECT run_id FROM last_run')).toEqual([{ run_id: 'evaluate' }]);
    expect(store.query('SELECT DISTINCT run_id FROM worst_episodes')).toEqual([{ run_id: 'evaluate' }]);
    expect(store.getRun().run_id).toBe('nothing');
  });

  test('the view last_runs has one for each stage', () => {
    expect(stagesLog().query('SELECT stage, run_id FROM last_runs ORDER BY stage')).toEqual([
      { stage: 'evaluate', run_id: 'evaluate' },
      { stage: 'reinforce', run_id: 'reinforce' },
      { stage: 'sft', run_id: 'sft' },
      { stage: 'teach', run_id: 'teach-2' },
    ]);
  });

  test.each([
    [{ table: 'episodes' }, 'evaluate'],
    [{ table: 'episodes', stage: 'reinforce' }, 'reinforce'],
    [{ table: 'teacher_samples' }, 'teach-2'],
    [{ table: 'metrics', stage: 'sft' }, 'sft'],
    [{ table: 'episodes', stage: 'unknown' }, 'nothing'],
  ] as const)('lastRunWith(%j) is %s', (holding, run_id) => {
    expect(stagesLog().lastRunWith(holding).run_id).toBe(run_id);
  });

  test('a log without runs has none', () => {
    const store = openStore(':memory:');
    onTestFinished(store.close);
    expect(() => store.lastRunWith({ table: 'episodes' })).toThrow(expect.objectContaining({ code: 'not_found' }));
    expect(store.query('SELECT * FROM last_run')).toEqual([]);
  });
});

test('the time of a stage is that of all its parts', () => {
  const store = openLog();
  for (const [step, seconds] of [
    [0, 2],
    [7, 3.5],
  ] as const)
    store.recordMetrics(RUN, 'sft', step, { 'time/stage_s': seconds });
  store.recordMetrics(RUN, 'evaluate', 0, { 'time/stage_s': 1, 'episode/return': 1 });
  expect(store.stageTimes(RUN)).toEqual([
    { stage: 'evaluate', seconds: 1 },
    { stage: 'sft', seconds: 5.5 },
  ]);
});

test('the worst episodes come first, one without a return not at all', () => {
  const store = openLog();
  const returns = [0.5, 0.1, null, 0.9, 0.1];
  store.recordEpisodes(
    RUN,
    'sft',
    returns.map((episode_return, i) => episode(i, { episode_return })),
  );
  expect(store.worstEpisodes(RUN, 3).map(({ member }) => member)).toEqual([1, 4, 0]);
  expect(store.query('SELECT member FROM worst_episodes')).toEqual([1, 4, 0, 3].map((member) => ({ member })));
});

test('samples can be asked for by whether they were kept', () => {
  const store = openLog();
  store.recordTeacherSamples(
    RUN,
    [0, 1, 2, 3].map((i) => sample(i)),
  );
  expect(store.teacherSamples({ run_id: RUN, accepted: false })).toMatchObject([
    { accepted: false, reject_reason: 'low_reward' },
  ]);
  expect(store.teacherSamples({ run_id: RUN, accepted: true })).toHaveLength(3);
});

test('G09: an export that stops halfway does not hold the write-ahead log', () => {
  const path = join(temporaryFolder(), 'log.db');
  const store = openLog(path);
  store.recordEpisodes(RUN, 'sft', episodes(200));
  const reader = openStore(path, { readonly: true });
  onTestFinished(reader.close);
  expect(reader.episodes({ run_id: RUN, limit: 100 })).toHaveLength(100);
  for (let i = 0; i < 20; i++) store.recordEpisodes(RUN, 'reinforce', episodes(500, { optimizer_step: i }));
  expect(statSync(`${path}-wal`).size).toBeLessThan(32 * 2 ** 20);
  expect(store.checkpoint()).toEqual({ busy: false, log: 0, checkpointed: 0 });
});

test('G09: a foreign reader that holds the write-ahead log is reported', () => {
  const path = join(temporaryFolder(), 'log.db');
  const warnings: string[] = [];
  const store = openLog(path, (message) => void warnings.push(message));
  store.recordEpisodes(RUN, 'sft', episodes(100));
  const other = new Sqlite(path, { readonly: true });
  onTestFinished(() => void other.close());
  const cursor = other.prepare('SELECT * FROM episodes').iterate();
  cursor.next();
  const long = 'x'.repeat(2 ** 19);
  for (let i = 0; i < 128; i++) store.recordTeacherSamples(RUN, [sample(i, { completion: long })]);
  expect(warnings[0]).toMatch(/a reader holds back \d+ pages/);
  expect(store.checkpoint().busy).toBe(true);
  cursor.return?.();
  expect(store.checkpoint().busy).toBe(false);
});
