/**
 * What an evaluation found, in figures: the part `evaluation` of a run's summary.json, and what the tables are made of.
 *
 *   splits[]      one for each split played: split, levels, tasks, policies[], comparisons[]
 *   policies[]    policy, tasks, samples, rewards and held_out as {mean, standard_error, low, high},
 *                 pass_at {"1": .., "8": ..}, valid_json, no_errors, families {name: {tasks, mean, low, high}}, levels
 *   comparisons[] every pair of policies: policy, above, and for each reward and held-out measure the mean difference on
 *                 the same tasks with its standard error, and that mean in standard errors (z)
 *   overall       the same policies[] and comparisons[] over the tasks of all splits, where there are several
 *
 * Means are over tasks, a task's value being the mean of its samples; low and high are the ends of the 95 % bootstrap
 * interval over tasks. families and levels are of the graded reward.
 */
import { HELD_OUT_MEASURES, PRESETS, type HeldOutMeasure, type Preset } from '../schemas/reward.ts';
import type { Level } from '../schemas/task.ts';
import { groupBy } from './credit.ts';
import { eachPreset, taskMeans, toRow, type PolicyEvaluation, type ScoredEpisode } from './evaluate.ts';
import type { SplitEvaluation } from './stages/evaluate.ts';
import { bootstrapInterval, mean, pairedDifference, passAtK, standardError } from './statistics.ts';
import type { PairedDifference } from './statistics.ts';

export interface Estimate {
  mean: number;
  standard_error: number;
  /** Ends of the 95 % interval. */
  low: number;
  high: number;
}

export interface PartSummary {
  tasks: number;
  mean: number;
  low: number;
  high: number;
}

export interface PolicySummary {
  policy: string;
  tasks: number;
  /** Episodes of each task. */
  samples: number;
  rewards: Record<Preset, Estimate>;
  /** Left out where no task has an expectation. */
  held_out?: Record<HeldOutMeasure, Estimate>;
  /** By k: the probability that the best of k samples reaches the reward to pass. */
  pass_at: Record<string, number>;
  valid_json: number;
  no_errors: number;
  families: Record<string, PartSummary>;
  levels: Record<string, PartSummary>;
}

export interface Comparison {
  policy: string;
  /** The policy it is compared with. */
  above: string;
  rewards: Record<Preset, PairedDifference>;
  held_out?: Record<HeldOutMeasure, PairedDifference>;
}

export interface GroupSummary {
  policies: PolicySummary[];
  comparisons: Comparison[];
}

export interface SplitSummary extends GroupSummary {
  split: string;
  levels: Level[];
  tasks: number;
}

export interface EvaluationSummary {
  pass_at_reward: number;
  splits: SplitSummary[];
  overall?: GroupSummary;
}

/** Sums up what evaluateStage answered. Pure; the same episodes give the same figures. */
export function summarise(evaluations: readonly SplitEvaluation[], passAtReward: number): EvaluationSummary {
  const splits = evaluations.map(({ split, levels, policies }): SplitSummary => ({
    ...{ split, levels, tasks: policies[0]?.rewards.graded.length ?? 0 },
    ...toGroup(policies, passAtReward),
  }));
  const summary = { pass_at_reward: passAtReward, splits };
  return splits.length < 2 ? summary : { ...summary, overall: toGroup(pool(evaluations), passAtReward) };
}

/** Each policy on the tasks of all splits. */
function pool(evaluations: readonly SplitEvaluation[]): PolicyEvaluation[] {
  return evaluations[0]!.policies.map(({ policy }, p): PolicyEvaluation => {
    const parts = evaluations.map(({ policies }) => policies[p]!);
    return {
      policy,
      episodes: parts.flatMap(({ episodes }) => episodes),
      rewards: eachPreset((preset) => parts.flatMap(({ rewards }) => rewards[preset])),
    };
  });
}

function toGroup(policies: readonly PolicyEvaluation[], passAtReward: number): GroupSummary {
  return {
    policies: policies.map((evaluation) => toPolicySummary(evaluation, passAtReward)),
    comparisons: policies.flatMap((later, i) => policies.slice(0, i).map((earlier) => compare(later, earlier))),
  };
}

function toPolicySummary(evaluation: PolicyEvaluation, passAtReward: number): PolicySummary {
  const { policy, episodes, rewards } = evaluation;
  const { tasks, valid_json, no_errors } = toRow(evaluation);
  const measured = episodes.some(({ held_out }) => held_out !== null);
  return {
    ...{ policy, tasks, samples: tasks === 0 ? 0 : Math.round(episodes.length / tasks) },
    rewards: eachPreset((preset) => toEstimate(rewards[preset])),
    ...(measured && { held_out: eachMeasure((measure) => toEstimate(heldOutMeans(episodes, measure))) }),
    pass_at: passTable(episodes, passAtReward),
    ...{ valid_json, no_errors },
    families: byPart(episodes, (taskId) => taskId.split('.')[1]!),
    levels: byPart(episodes, (taskId) => taskId.split('.')[2]!),
  };
}

function toEstimate(values: readonly number[]): Estimate {
  return { mean: mean(values), standard_error: standardError(values), ...bootstrapInterval(values) };
}

function heldOutMeans(episodes: readonly ScoredEpisode[], measure: HeldOutMeasure): number[] {
  return taskMeans(episodes, ({ held_out }) => held_out?.[measure] ?? null);
}

function eachMeasure<T>(value: (measure: HeldOutMeasure) => T): Record<HeldOutMeasure, T> {
  return Object.fromEntries(HELD_OUT_MEASURES.map((name) => [name, value(name)])) as Record<HeldOutMeasure, T>;
}

function byPart(episodes: readonly ScoredEpisode[], partOf: (taskId: string) => string): Record<string, PartSummary> {
  const parts = groupBy(episodes, ({ task_id }) => partOf(task_id));
  const summaries = parts.map((members): [string, PartSummary] => {
    const values = taskMeans(members, ({ rewards }) => rewards.graded);
    return [partOf(members[0]!.task_id), { tasks: values.length, mean: mean(values), ...bootstrapInterval(values) }];
  });
  return Object.fromEntries(summaries);
}

/** pass@k for k = 1, 2, 4, ... and the number of samples that every task has, as means over tasks. */
function passTable(episodes: readonly ScoredEpisode[], passAtReward: number): Record<string, number> {
  const tasks = groupBy(episodes, ({ task_id }) => task_id).map((samples) => ({
    n: samples.length,
    passed: samples.filter(({ rewards }) => rewards.graded >= passAtReward).length,
  }));
  const fewest = tasks.reduce((least, { n }) => Math.min(least, n), Infinity);
  if (!Number.isFinite(fewest)) return {};
  const powers = Array.from({ length: Math.floor(Math.log2(fewest)) + 1 }, (_, i) => 2 ** i);
  return Object.fromEntries(
    [...new Set([...powers, fewest])].map((k) => [k, mean(tasks.map(({ n, passed }) => passAtK(n, passed, k)))]),
  );
}

function compare(later: PolicyEvaluation, earlier: PolicyEvaluation): Comparison {
  const measured = [later, earlier].every(({ episodes }) => episodes.some(({ held_out }) => held_out !== null));
  const means = (evaluation: PolicyEvaluation, measure: HeldOutMeasure): number[] =>
    heldOutMeans(evaluation.episodes, measure);
  return {
    ...{ policy: later.policy, above: earlier.policy },
    rewards: Object.fromEntries(
      PRESETS.map((preset) => [preset, pairedDifference(later.rewards[preset], earlier.rewards[preset])]),
    ) as Record<Preset, PairedDifference>,
    ...(measured && {
      held_out: eachMeasure((measure) => pairedDifference(means(later, measure), means(earlier, measure))),
    }),
  };
}
