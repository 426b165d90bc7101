/** The report of a long run: 2,000 steps, 128,000 episodes and 200,000 values of metrics open as fast as those of a short one. */
import { expect, test } from 'vitest';
import { createClient } from '../../clients/ts/index.ts';
import { createApp } from '../../server/app.ts';
import { loadReport } from '../../trainer/report/load.ts';
import { renderReport } from '../../trainer/report.ts';
import { episodes, openLog, RUN } from '../store/records.ts';

const STEPS = 2_000;
const COMPONENTS = Array.from({ length: 90 }, (_, i) => (i < 40 ? `reward/c${i}` : `other/m${i}`));
const app = createApp({});
const client = createClient({ url: 'http://app', fetch: (request) => app.fetch(request) });

test('the report of 2,000 steps is read in seconds and weighs little', async () => {
  const store = openLog();
  const value = (step: number): number => 0.5 + 0.4 * Math.sin(step / 300);
  for (let step = 1; step <= STEPS; step++) {
    const names = ['episode/return', 'policy/kl_k3', 'time/rollout_s', 'time/sample_s', 'time/train_s', ...COMPONENTS];
    const at = { policy_version: `rl-${step}`, optimizer_step: step };
    store.transaction(() => {
      store.recordMetrics(RUN, 'reinforce', step, Object.fromEntries(names.map((name, i) => [name, value(step + i)])));
      store.recordEpisodes(RUN, 'reinforce', episodes(64, at));
      if (step % 20 === 0) {
        const tasks = episodes(32, at).map((each, i) => ({
          ...each,
          ...{ task_id: `val.${i % 2 === 0 ? 'cycle' : 'network'}.1.${i}`, group_id: String(i), member: 0 },
          episode_return: Math.min(1, (step * (i + 1)) / (32 * STEPS)),
        }));
        store.recordEpisodes(RUN, 'validation', tasks);
        store.recordMetrics(RUN, 'reinforce', step, {
          'held_out/path_f1': value(step),
          'validation/graded': value(step),
        });
      }
    });
  }
  for (const policy_version of ['sft', 'rl-2000']) {
    const tasks = episodes(400, { policy_version }).map((each, i) => ({
      ...each,
      ...{ task_id: `test_iid.cycle.1.${i}`, group_id: String(i), member: 0 },
    }));
    store.recordEpisodes(RUN, 'evaluate', tasks);
  }
  const summary = { evaluation: { pass_at_reward: 0.9, splits: [] } };
  store.finishRun(RUN, 'done', summary);

  const startedMs = performance.now();
  const data = await loadReport(store, client, { db: 'log.db', runs: 'runs' }, RUN);
  const page = renderReport(data);
  expect(performance.now() - startedMs).toBeLessThan(20_000);
  expect(data.strip.map(({ drawings }) => drawings.length)).toEqual([5, 5]);
  expect(data.best).toHaveLength(3);
  expect(page.length).toBeLessThan(3e6);
});
