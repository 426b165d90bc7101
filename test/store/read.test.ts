/** Reading in pages: every row once, in order, and a reader that stops halfway holds nothing up. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../clients/store/index.ts';
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
