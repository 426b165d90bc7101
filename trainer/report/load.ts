/**
 * Fills a report from the log. Pictures are drawn, and completions scored under the presets they were not played with,
 * by the environment over HTTP; nothing else leaves the log, so a report can be made of any run, finished or not.
 *
 * It reads these stages, each of which may be missing: `teach` (teacher samples), `sft` and `reinforce` (metrics),
 * `validation` (episodes of the same tasks at successive policy versions), `evaluate` (episodes played under graded, one a
 * task and policy, in the order of the tasks). A stage that has recorded the metric `time/stage_s` also appears in the
 * table of times.
 */
import type { Run, Store } from '../../clients/store/index.ts';
import type { Client } from '../../clients/ts/index.ts';
import { readAlarms } from '../alarms.ts';
import type { Places } from '../shell.ts';
import type { EvaluationSummary } from '../summary.ts';
import type { Curve, Example, ReportData } from './data.ts';
import { readPolicies, type PolicyEpisodes } from './load-episodes.ts';
import { loadEvaluation } from './load-evaluation.ts';
import { chooseComparisons, chooseExtremes, toExample, toShown } from './load-examples.ts';
import { loadStrip } from './load-strip.ts';
import { loadTeacher } from './load-teacher.ts';
import { repeatCommands } from './repeat.ts';

const STAGES = ['teach', 'sft', 'reinforce', 'evaluate'];

/**
 * @param evaluation What the run's evaluation found, where the caller knows it; else it is read from the run's summary.
 * @throws StoreError not_found; the client's errors where the server cannot score or draw.
 */
export async function loadReport(
  store: Store,
  client: Client,
  places: Places,
  run_id?: string,
  evaluation?: EvaluationSummary,
): Promise<ReportData> {
  const run = store.getRun(run_id);
  const policies = readPolicies(store, run.run_id);
  const shown = toShown(policies);
  const { best, worst } = chooseExtremes(shown);
  const trained = shown.filter(({ policy }) => policy !== 'teacher');
  const compared = chooseComparisons(shown, [...best, ...worst], run.config['min_reward']);
  const draw = (tasks: readonly string[], by: readonly PolicyEpisodes[]): Promise<Example[]> =>
    Promise.all(tasks.map((task_id) => toExample(store, client, task_id, by)));
  return {
    run: toFacts(run),
    stages: readTimes(store, run.run_id),
    evaluation:
      evaluation ?? summaryOf(run) ?? (await loadEvaluation(store, client, policies, run.config['pass_at_reward'])),
    teacher: await loadTeacher(store, client, run.run_id),
    curves: readCurves(store, run.run_id),
    alarms: readAlarms(store, run.run_id),
    strip: await loadStrip(store, client, run.run_id),
    comparisons: await draw(compared, shown),
    best: await draw(best, trained.length > 0 ? trained : shown),
    worst: await draw(worst, trained.length > 0 ? trained : shown),
    settings: run.config,
    repeat: repeatCommands(run, places),
  };
}

function summaryOf({ summary }: Run): EvaluationSummary | undefined {
  return (summary as { evaluation?: EvaluationSummary } | null)?.evaluation;
}

function toFacts({ run_id, command, status, started_at, finished_at, seed, git_commit }: Run): ReportData['run'] {
  return { run_id, command, status, started_at, finished_at, seed, git_commit };
}

function readCurves(store: Store, run_id: string): Curve[] {
  const names = store.metricNames(run_id).filter(({ name }) => name !== 'time/stage_s');
  return names.map(({ stage, name }) => ({ stage, name, points: store.metric(run_id, stage, name) }));
}

function readTimes(store: Store, run_id: string): ReportData['stages'] {
  const times = store.stageTimes(run_id);
  return STAGES.flatMap((stage) => times.find((time) => time.stage === stage) ?? []);
}
