/** Which metrics are drawn together, what each means, and the table of reward components. */
import { lineChart, sparkline, type ChartOptions } from './chart.ts';
import type { Curve } from './data.ts';
import { fixed, html, type Html } from './html.ts';

interface Plan extends Omit<ChartOptions, 'series'> {
  stage: string;
  /** Metric names with the label of their line, in order. */
  lines: readonly (readonly [name: string, label: string])[];
}

const PLANS: readonly Plan[] = [
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
    note: 'Examples never trained on: share of completions, and of their words, whose every token is the likeliest.',
    lines: [
      ['validation/exact', 'completions'],
      ['validation/words', 'words'],
    ],
    include: [0, 1],
  },
  {
    stage: 'reinforce',
    title: 'Reward in training',
    note: 'Mean return of the episodes of a step, under the preset trained on.',
    lines: [['episode/return', 'mean return']],
  },
  {
    stage: 'reinforce',
    title: 'Distance from the reference policy',
    note: 'KL to the SFT policy, nats per token. A leap is a sign of reward gaming.',
    lines: [['policy/kl_k3', 'KL (k3 estimator)']],
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
    note: 'Share of groups whose rewards are all equal, and of completions cut at the token limit.',
    lines: [
      ['group/flat_share', 'equal rewards'],
      ['stop/max_tokens', 'cut off'],
    ],
    include: [0, 1],
  },
  {
    stage: 'reinforce',
    title: 'Seconds of a step',
    note: 'Playing episodes against the environment, and learning from them.',
    lines: [
      ['time/rollout_s', 'rollout'],
      ['time/train_s', 'training'],
    ],
    include: [0],
  },
];

const STAGE_TITLES: Readonly<Record<string, string>> = { sft: 'SFT', reinforce: 'REINFORCE', teach: 'Teacher' };

export function curvesSection(curves: readonly Curve[]): Html {
  const charts = PLANS.flatMap((plan) => plannedChart(plan, curves));
  if (charts.length === 0) return html``;
  return html`<section>
    <h2>Training</h2>
    <p class="lead">Thin lines are single steps, bold ones their moving mean; the legend gives the last value.</p>
    <div class="charts">${charts}</div>
    ${otherCharts(curves)}
  </section>`;
}

function plannedChart({ stage, lines, ...chart }: Plan, curves: readonly Curve[]): Html[] {
  const series = lines.flatMap(([name, label]) => {
    const curve = curves.find((each) => each.stage === stage && each.name === name && each.points.length > 0);
    return curve ? [{ label, points: curve.points }] : [];
  });
  return series.length > 0 ? [lineChart({ ...chart, series })] : [];
}

/** Whatever else was logged, folded away: nothing that was measured is out of reach. */
function otherCharts(curves: readonly Curve[]): Html {
  const planned = new Set(PLANS.flatMap(({ stage, lines }) => lines.map(([name]) => `${stage} ${name}`)));
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

/** Every component of the reward: where it began, where it ended, and its way between on a scale of 0 to 1. */
export function componentsSection(curves: readonly Curve[]): Html {
  const components = curves.filter(({ stage, name, points }) => {
    return stage === 'reinforce' && name.startsWith('reward/') && points.length > 1;
  });
  if (components.length === 0) return html``;
  const rows = components.map(({ name, points }) => {
    const [start, end] = ends(points.map(({ value }) => value));
    return html`<li>
      <code>${name.slice('reward/'.length)}</code> <span>${fixed(start, 2)}</span> ${sparkline(points)}
      <b>${fixed(end, 2)}</b>
    </li>`;
  });
  return html`<section>
    <h2>Reward components in training</h2>
    <p class="lead">
      Mean of the first tenth of the steps, the way between on a scale of 0 to 1, mean of the last tenth. 1 is best in
      every row.
    </p>
    <ul class="components">
      ${rows}
    </ul>
  </section>`;
}

function ends(values: readonly number[]): [number, number] {
  const size = Math.max(1, Math.round(values.length / 10));
  const average = (part: readonly number[]): number => part.reduce((sum, value) => sum + value, 0) / part.length;
  return [average(values.slice(0, size)), average(values.slice(-size))];
}
