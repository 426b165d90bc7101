/** The README's queries, as written, on a log that holds something for each of them. */
import { expect, onTestFinished, test } from 'vitest';
import { openStore, type Store } from '../../clients/store/index.ts';
import { fencedBlocks } from '../readme/blocks.ts';
import { readText } from '../rules/files.ts';
import { episode, episodes, openLog, RUN, sample, step } from './records.ts';

const queries = fencedBlocks(readText('README.md')).filter(({ language }) => language === 'sql');

function filledLog(): Store {
  const store = openLog();
  const errors = [{ code: 'unknown_target', message: 'arrow target does not exist: b', index: 1 }];
  const steps = [step({ errors, components: { node: 0.25, edge: 0.75 } })];
  store.recordEpisodes(RUN, 'reinforce', episodes(16, { optimizer_step: 3, steps }));
  store.recordEpisodes(RUN, 'reinforce', episodes(8, { optimizer_step: 4, episode_return: 0.5 }));
  store.recordEpisodes(RUN, 'evaluate', [episode(0, { episode_return: -1 })]);
  store.recordTeacherSamples(
    RUN,
    [0, 1, 2, 3].map((i) => sample(i)),
  );
  return store;
}

const answers = (store: Store): Record<string, unknown>[][] => queries.map(({ text }) => store.query(text));

test('the page has five queries, and each finds something', () => {
  expect(queries.length).toBeGreaterThanOrEqual(5);
  for (const [i, rows] of answers(filledLog()).entries()) expect(rows, queries[i]!.text).not.toEqual([]);
});

test('they find what is there', () => {
  const [worst, components, faults, groups, teacher] = answers(filledLog());
  expect(worst).toHaveLength(10);
  expect(worst![0]).toMatchObject({ stage: 'evaluate', reward: -1 });
  expect(components).toContainEqual({
    stage: 'reinforce',
    policy_version: 'sft',
    component: 'node',
    mean: 0.5,
    reward: 0.5,
    steps: 24,
  });
  expect(faults).toEqual([
    { stage: 'reinforce', code: 'unknown_target', times: 16, example: 'arrow target does not exist: b' },
  ]);
  expect(groups).toEqual([
    { optimizer_step: 3, without_variance: 0, groups: 2, mean_return: 0.001 },
    { optimizer_step: 4, without_variance: 1, groups: 1, mean_return: 0.5 },
  ]);
  expect(teacher).toEqual([
    { provider: 'scripted', model: 'dagre', outcome: 'kept', samples: 3, mean_reward: 0.9 },
    { provider: 'scripted', model: 'dagre', outcome: 'low_reward', samples: 1, mean_reward: 0.9 },
  ]);
});

test('they are about the last run that has episodes, and an empty log answers nothing', () => {
  const store = filledLog();
  const before = answers(store);
  store.query(`UPDATE runs SET started_at = '2000-01-01T00:00:00.000Z' RETURNING run_id`);
  store.createRun({ run_id: 'bare', command: 'sft', config: {} });
  expect(answers(store)).toEqual(before);
  store.recordEpisodes('bare', 'other', [episode(0, { episode_return: 0.25 })]);
  expect(answers(store)[0]).toMatchObject([{ stage: 'other', reward: 0.25 }]);
  const empty = openStore(':memory:');
  onTestFinished(empty.close);
  expect(answers(empty).flat()).toEqual([]);
});
