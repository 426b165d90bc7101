/** The tables of an evaluation, as lines of plain text. */
import { HELD_OUT_MEASURES, PRESETS } from '../schemas/reward.ts';
import type { EvaluationRow } from './evaluate.ts';
import type { PairedDifference } from './statistics.ts';
import type { Comparison, EvaluationSummary, GroupSummary, PolicySummary, SplitSummary } from './summary.ts';

/** Lines of plain text, the header first: columns as wide as their widest cell. */
export function toLines(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** The table of rewards: one row a policy, one column a preset, mean and standard error. */
export function toRewardTable(rows: readonly EvaluationRow[]): string[] {
  const head = ['policy', 'tasks', ...PRESETS, 'valid JSON', 'no errors'];
  const body = rows.map((row) => [
    row.policy,
    String(row.tasks),
    ...PRESETS.map((preset) => `${row.mean[preset].toFixed(3)} ±${row.standard_error[preset].toFixed(3)}`),
    `${(100 * row.valid_json).toFixed(1)} %`,
    `${(100 * row.no_errors).toFixed(1)} %`,
  ]);
  return toLines(head, body);
}

/** Ends the name of a policy that takes the likeliest tokens, beside the one that samples. */
export const GREEDY = ' greedy';

/** A difference is clear from so many standard errors on. */
export const CLEAR = 2;

/**
 * All that `evaluate` prints: for each split a table of its policies and how far apart they are; a table of families and
 * levels where there is one split; and where there are several, one table over all of them, with the last policy against
 * each other one.
 */
export function toReport(summary: EvaluationSummary): string[] {
  const { splits, overall, pass_at_reward } = summary;
  const blocks = splits.map((split) => [
    title(split),
    ...toPolicyTable(split.policies),
    ...split.comparisons.filter(isShown).map(toComparisonLine),
  ]);
  const [only] = splits;
  if (overall) blocks.push(toOverview(splits, overall));
  else if (only) blocks.push(toPartTable('family', only.policies), toPartTable('level', only.policies));
  const legend = [
    'mean over tasks [95 % bootstrap interval]; ± one standard error, paired by task;',
    `pass@k: a graded reward of ${pass_at_reward} or more in k samples. Paths, edits and renamed are held out: no reward holds them.`,
  ];
  return [...blocks, legend].flatMap((lines) => ['', ...lines]);
}

function title({ split, levels, tasks }: SplitSummary): string {
  return `${split}: ${tasks} tasks of level${levels.length === 1 ? '' : 's'} ${levels.join(', ')}`;
}

const HELD_OUT_TITLES = { path_f1: 'paths', graph_edit_similarity: 'edits', renamed_reward: 'renamed' } as const;

function toPolicyTable(policies: readonly PolicySummary[]): string[] {
  const ks = Object.keys(policies[0]?.pass_at ?? {});
  const shown = ks.length > 1 ? [ks[0]!, ks.at(-1)!] : ks;
  const others = PRESETS.filter((preset) => preset !== 'graded');
  const head = [
    ...['policy', 'graded', ...shown.map((k) => `pass@${k}`)],
    ...[...HELD_OUT_MEASURES.map((measure) => HELD_OUT_TITLES[measure]), ...others, 'valid JSON', 'no errors'],
  ];
  const body = policies.map(({ policy, rewards, held_out, pass_at, valid_json, no_errors }) => [
    ...[policy, withInterval(rewards.graded)],
    ...shown.map((k) => fixed(pass_at[k])),
    ...HELD_OUT_MEASURES.map((measure) => fixed(held_out?.[measure].mean)),
    ...others.map((preset) => fixed(rewards[preset].mean)),
    ...[percent(valid_json), percent(no_errors)],
  ]);
  return toLines(head, body);
}

/** Checkpoints are compared with each other where both sample, or both play greedily. */
function isShown({ policy, above }: Comparison): boolean {
  const isGreedy = (name: string): boolean => name.endsWith(GREEDY);
  return policy !== 'teacher' && above !== 'teacher' && isGreedy(policy) === isGreedy(above);
}

/** `rl above sft: graded +0.052 ±0.013 (4.0 standard errors: clearly better), paths +0.031, ...`. */
export function toComparisonLine({ policy, above, rewards, held_out }: Comparison): string {
  const measured = held_out
    ? HELD_OUT_MEASURES.map((measure) => `${HELD_OUT_TITLES[measure]} ${signed(held_out[measure].mean)}`)
    : [];
  const figures = [`graded ${toDifference(rewards.graded)}`, ...measured].join(', ');
  return `${policy} above ${above}: ${figures}`;
}

/** `+0.052 ±0.013 (4.0 standard errors: clear)`. */
function toDifference({ mean, standard_error, z }: PairedDifference): string {
  if (standard_error === 0) return mean === 0 ? 'the same on every task' : `${signed(mean)} on every task`;
  const verdict = z >= CLEAR ? 'clearly better' : z <= -CLEAR ? 'clearly worse' : 'not clear';
  return `${signed(mean)} ±${standard_error.toFixed(3)} (${z.toFixed(1)} standard errors: ${verdict})`;
}

/** One row a split, one column a policy; then how far apart those are that are alike, split by split. */
function toOverview(splits: readonly SplitSummary[], overall: GroupSummary): string[] {
  const rows: readonly (GroupSummary & { split: string; tasks: number })[] = [
    ...splits,
    { ...overall, split: 'together', tasks: overall.policies[0]!.tasks },
  ];
  const means = rows.map(({ split, tasks, policies }) => [
    ...[split, String(tasks)],
    ...policies.map(({ rewards }) => withInterval(rewards.graded)),
  ]);
  const differences = rows.flatMap(({ split, comparisons }) =>
    comparisons
      .filter(isShown)
      .map(({ policy, above, rewards }) => [split, `${policy} above ${above}`, toDifference(rewards.graded)]),
  );
  const names = overall.policies.map(({ policy }) => policy);
  const compared = differences.length === 0 ? [] : ['', ...toLines(['split', 'compared', 'graded'], differences)];
  return [...toLines(['graded', 'tasks', ...names], means), ...compared];
}

function toPartTable(kind: 'family' | 'level', policies: readonly PolicySummary[]): string[] {
  const parts = policies.map(({ families, levels }) => (kind === 'family' ? families : levels));
  const rows = Object.keys(parts[0] ?? {}).sort();
  const body = rows.map((name) => [
    ...[name, String(parts[0]![name]!.tasks)],
    ...parts.map((part) => (part[name] ? withInterval(part[name]) : '')),
  ]);
  return toLines([kind, 'tasks', ...policies.map(({ policy }) => policy)], body);
}

function withInterval({ mean, low, high }: { mean: number; low: number; high: number }): string {
  return `${fixed(mean)} [${fixed(low)}, ${fixed(high)}]`;
}

function fixed(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? '-' : value.toFixed(3);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(3)}`;
}
