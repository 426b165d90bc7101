import { expect, test } from 'vitest';
import { scoreCompletion } from '../../server/reward/score.ts';
import { adversarialCases } from '../../server/tasks/adversarial.ts';

const CASES = adversarialCases(4);

test.each([...new Set(CASES.map(({ name }) => name))])('graded pays little for: %s', (name) => {
  for (const { task, completion, max_graded } of CASES.filter((other) => other.name === name)) {
    const { reward } = scoreCompletion(task, completion, 'graded').result;
    expect(reward, task.task_id).toBeLessThanOrEqual(max_graded);
  }
});
