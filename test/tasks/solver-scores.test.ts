import { expect, test } from 'vitest';
import { SPLITS } from '../../schemas/task.ts';
import { scoreCompletion } from '../../server/reward/score.ts';
import { solve } from '../../server/tasks/solver.ts';
import { getTask, listTasks, sampleTask } from '../../server/tasks/suite.ts';

test('the reference solver scores >= .9 graded on each of 2,000 tasks of all splits, and on every real diagram', () => {
  const sampled = Array.from({ length: 2000 }, (_, i) =>
    sampleTask({ seed: `solver-${i}`, split: SPLITS[i % SPLITS.length]! }),
  );
  const real = listTasks({ split: 'test_real', limit: 44, offset: 0 }).tasks.map((task) => getTask(task.task_id)!);
  const below = [...sampled, ...real].flatMap((task) => {
    const { reward } = scoreCompletion(task, { actions: solve(task) }, 'graded').result;
    return reward < 0.9 ? [`${task.task_id} ${reward.toFixed(3)}`] : [];
  });
  expect(below).toEqual([]);
}, 240_000);
