/** What the page of the reward experiment shows and only the log knows: curves and drawings. */
import type { MetricPoint, Store } from '../../clients/store/index.ts';
import type { Client } from '../../clients/ts/index.ts';
import type { Preset } from '../../schemas/reward.ts';
import type { Example } from '../report/data.ts';
import { readPolicies } from '../report/load-episodes.ts';
import { chooseComparisons, toExample } from '../report/load-examples.ts';
import { mean } from '../statistics.ts';
import type { ExperimentData } from './page.ts';
import { nameOf, type TrainedRun } from './runs.ts';

/** Curves of REINFORCE by metric and reward, means over the seeds that have a step. */
export function loadCurves(
  store: Store,
  runs: readonly TrainedRun[],
  names: readonly string[],
): ExperimentData['curves'] {
  const rewards = [...new Set(runs.map(({ reward }) => reward))];
  return new Map(
    names.map((name) => [name, new Map(rewards.map((reward) => [reward, curveOf(store, runs, name, reward)]))]),
  );
}

function curveOf(store: Store, runs: readonly TrainedRun[], name: string, reward: Preset): MetricPoint[] {
  const byStep = new Map<number, number[]>();
  for (const { run_id } of runs.filter((run) => run.reward === reward)) {
    for (const { optimizer_step, value } of store.metric(run_id, 'reinforce', name)) {
      byStep.set(optimizer_step, [...(byStep.get(optimizer_step) ?? []), value]);
    }
  }
  const steps = [...byStep.keys()].sort((a, b) => a - b);
  return steps.map((optimizer_step) => ({ optimizer_step, value: mean(byStep.get(optimizer_step)!) }));
}

/** Tasks chosen by order, drawn by the policy it began with and by the first seed's policy of each reward. */
export async function loadExamples(
  store: Store,
  client: Client,
  run_id: string,
  runs: readonly TrainedRun[],
): Promise<Example[]> {
  const first = runs.filter(({ seed }) => seed === runs[0]!.seed).map(nameOf);
  const all = readPolicies(store, run_id);
  const shown = ['sft', ...first].flatMap((name) => all.find(({ policy }) => policy === name) ?? []);
  const tasks = chooseComparisons(shown, [], undefined);
  return Promise.all(tasks.map((task_id) => toExample(store, client, task_id, shown)));
}
