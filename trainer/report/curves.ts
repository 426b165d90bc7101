/** Which metrics are drawn together, and what each means. Reward components have a table of their own: components.ts. */
import type { Alarm } from '../alarms.ts';
import { lineChart, type ChartOptions, type Series } from './chart.ts';
import type { Curve } from './data.ts';
import { html, type Html } from './html.ts';
import { toTimeSplit } from './times.ts';

interface Plan extends Omit<ChartOptions, 'series' | 'stacked' | 'shaded'> {
  stage: string;
  /** Metric names with the label of their line, in order. */
  lines: readonly (readonly [name: string, label: string])[];
  /** Whether its lines are those that alarms are about. */
  watched?: boolean;
}

const PLANS: readonly Plan[] = [
  {
    stage: 'reinforce',
    title: 'Reward in training, and what is never trained on',
    note: `Mean return of the episodes of a step, beside the same validation tasks played every few steps: their reward,
      their reward after all labels are renamed, and how well paths and graph agree with what was asked. Where the
      first line rises and another falls, the reward may be gamed: such steps are shaded.`,
    lines: [
      ['episode/return', 'training reward'],
      ['validation/graded', 'validation reward (graded)'],
      ['held_out/renamed_reward', 'renamed'],
      ['held_out/path_f1', 'path F1'],
      ['held_out/graph_edit_similarity', 'graph-edit similarity'],
    ],
    wide: true,
    watched: true,
  },
  {
    stage: 'sft',
    title: 'SFT loss',
    note: 'Mean nats per completion token. Lower is better.',
    lines: [['loss/sft', 'training']],
    include: [0],
  },
  {
    stage: 'sft',
    title: 'SFT validation',
    note: `Examples never trained on: share of completions, and of their words, whose every token is the likeliest;
      also with names and wordings that were made up, where training has them.`,
    lines: [
      ['validation/exact', 'completions'],
      ['validation/words', 'words'],
      ['validation_rewritten/exact', 'completions, rewritten'],
      ['validation_rewritten/words', 'words, rewritten'],
    ],
    include: [0, 1],
  },
  {
    stage: 'reinforce',
    title: 'Validation under every reward',
    note: 'The same answers to the validation tasks, scored under each preset.',
    lines: [
      ['validation/weak', 'weak'],
      ['validation/article', 'article'],
      ['validation/stronger', 'stronger'],
      ['validation/graded', 'graded'],
    ],
    include: [0, 1],
  },
  {
    stage: 'reinforce',
    title: 'Distance from the reference policy',
    note: 'KL to the SFT policy, nats per token, by two estimators. A leap is a sign of reward gaming.',
    lines: [
      ['policy/kl_k3', 'k3'],
      ['policy/kl_k1', 'k1'],
    ],
    include: [0],
  },
  {
    stage: 'reinforce',
    title: 'Entropy',
    note: 'Nats per token. Near zero the policy has stopped exploring.',
    lines: [['policy/entropy', 'entropy']],
    include: [0],
  },
  {
    stage: 'reinforce',
    title: 'Completion length',
    note: 'Mean tokens of a completion.',
    lines: [['episode/completion_tokens', 'tokens']],
    include: [0],
  },
  {
    stage: 'reinforce',
    title: 'Gradient norm',
    note: 'Before clipping.',
    lines: [['optim/grad_norm', 'norm']],
    include: [0],
  },
  {
    stage: 'reinforce',
    title: 'Groups without a signal',
    note: 'Share of groups whose rewards are all equal (no variance, nothing to learn from).',
    lines: [['group/flat_share', 'equal rewards']],
    include: [0, 1],
  },
  {
    stage: 'reinforce',
    title: 'Truncated completions',
    note: 'Share of completions cut at the token limit.',
    lines: [['stop/max_tokens', 'cut off']],
    include: [0],
  },
  {
    stage: 'reinforce',
    title: 'Clipped tokens',
    note: 'Share of tokens whose ratio to the acting policy lies outside the clipping range, in the last update of a batch.',
    lines: [['policy/clip_share', 'clipped']],
    include: [0],
  },
  {
    stage: 'reinforce',
    title: 'Sampled against recomputed',
    note: 'Largest difference between the log-probability a token was sampled with and the one it is trained with, nats.',
    lines: [['policy/logprob_difference', 'difference']],
    include: [0],
  },
  {
    stage: 'sft',
    title: 'Tokens a second in SFT',
    note: 'Tokens trained on, by the time of their steps.',
    lines: [['perf/tokens_per_s', 'trained on']],
    include: [0],
  },
  {
    stage: 'reinforce',
    title: 'Tokens a second in sampling',
    note: 'Tokens sampled, by the time that sampling took; the environment does not count.',
    lines: [['perf/sampled_tokens_per_s', 'sampled']],
    include: [0],
  },
];

const STAGE_TITLES: Readonly<Record<string, string>> = { sft: 'SFT', reinforce: 'REINFORCE', teach: 'Teacher' };

/** @param alarms Steps over which the reward may have been gamed: shaded in the first chart. */
export function curvesSection(curves: readonly Curve[], alarms: readonly Alarm[]): Html {
  const charts = [...PLANS.flatMap((plan) => plannedChart(plan, curves, alarms)), ...timeChart(curves)];
  if (charts.length === 0) return html``;
  return html`<section>
    <h2>Training</h2>
    <p class="lead">
      Thin lines are single steps, bold ones their moving mean; where there are too many steps to draw, the pale band
      goes from the least to the most of those together. Dots are all that was measured. The legend gives the last
      value.
    </p>
    <div class="charts">${charts}</div>
    ${otherCharts(curves)}
  </section>`;
}

function plannedChart(
  { stage, lines, watched, ...chart }: Plan,
  curves: readonly Curve[],
  alarms: readonly Alarm[],
): Html[] {
  const series = lines.flatMap(([name, label]) => toSeries(curves, stage, name, label));
  const shaded = watched ? alarms.map(({ from_step, to_step }) => ({ from: from_step, to: to_step })) : [];
  return series.length > 0 ? [lineChart({ ...chart, series, shaded })] : [];
}

function toSeries(curves: readonly Curve[], stage: string, name: string, label: string): Series[] {
  const curve = curves.find((each) => each.stage === stage && each.name === name && each.points.length > 0);
  return curve ? [{ label, points: curve.points }] : [];
}

function timeChart(curves: readonly Curve[]): Html[] {
  const series = toTimeSplit(curves);
  if (series.length === 0) return [];
  const note = 'Where the seconds of a step go: sampling tokens, the environment, and learning from what it says.';
  return [lineChart({ title: 'Seconds of a step', note, series, include: [0], stacked: true })];
}

/** Whatever else was logged, folded away: nothing that was measured is out of reach. */
function otherCharts(curves: readonly Curve[]): Html {
  const planned = new Set(PLANS.flatMap(({ stage, lines }) => lines.map(([name]) => `${stage} ${name}`)));
  for (const name of ['time/rollout_s', 'time/sample_s', 'time/train_s']) planned.add(`reinforce ${name}`);
  const rest = curves.filter(
    ({ stage, name, points }) => points.length > 1 && !name.startsWith('reward/') && !planned.has(`${stage} ${name}`),
  );
  if (rest.length === 0) return html``;
  const charts = rest.map(({ stage, name, points }) =>
    lineChart({ title: name, note: STAGE_TITLES[stage] ?? stage, series: [{ label: name, points }] }),
  );
  return html`<details>
    <summary>${rest.length} other metrics</summary>
    <div class="charts">${charts}</div>
  </details>`;
}
