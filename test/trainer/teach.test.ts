/** The teacher's stage: how many tasks it answers, and of which kinds. */
import { expect, test } from 'vitest';
import { createClient } from '../../clients/ts/index.ts';
import { createApp } from '../../server/app.ts';
import { teach, trainingFamilies, type TeachOptions } from '../../trainer/teach.ts';
import { openLog, RUN } from '../store/records.ts';

const app = createApp({});
const client = createClient({ url: 'http://in.process', fetch: (request) => app.fetch(request) });
const OPTIONS: TeachOptions = {
  ...{
    run_id: RUN,
    seed: 1,
    levels: [1, 2],
    tasks: 1,
    samples: 1,
    flaw_rate: 0,
    reward: 'weak',
    min_reward: 0,
    keep: 1,
  },
};

test.each([1, 7, 16, 37])('%i tasks are that many, spread evenly', async (tasks) => {
  const store = openLog();
  const progress: number[] = [];
  const examples = await teach(client, store, { ...OPTIONS, tasks }, (done) => progress.push(done));
  const answered = store.query(`SELECT task_id, count(*) AS samples FROM teacher_samples GROUP BY 1`);
  expect(answered).toHaveLength(tasks);
  expect(examples).toHaveLength(tasks);
  expect(progress.at(-1)).toBe(tasks);
  const perKind = new Map<string, number>();
  for (const { task_id } of answered) {
    const kind = String(task_id).split('.').slice(1, 3).join('.');
    perKind.set(kind, (perKind.get(kind) ?? 0) + 1);
  }
  const kinds = 2 * (await trainingFamilies(client)).length;
  expect(perKind.size).toBe(Math.min(tasks, kinds));
  expect(Math.max(...perKind.values()) - Math.min(...perKind.values())).toBeLessThanOrEqual(1);
});
