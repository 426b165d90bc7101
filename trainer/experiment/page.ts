/** The page of the reward experiment: which rewards get gamed, and how; one HTML file that opens offline. Pure. */
import type { MetricPoint } from '../../clients/store/index.ts';
import type { Preset } from '../../schemas/reward.ts';
import { capital } from '../names.ts';
import { lineChart } from '../report/chart.ts';
import type { Example } from '../report/data.ts';
import { examplesSection } from '../report/drawings.ts';
import { fixed, html, signed, type Html } from '../report/html.ts';
import { STYLE } from '../report/style.ts';
import { MEASURES, type Measure, type Outcome, type Verdict } from './outcome.ts';

export interface ExperimentData {
  run_id: string;
  steps: number;
  seeds: readonly number[];
  tasks: number;
  /** The policy that all training began with. */
  start: Readonly<Record<Measure, number>>;
  outcomes: readonly Outcome[];
  /** By metric, then by reward: means over seeds. */
  curves: ReadonlyMap<string, ReadonlyMap<Preset, readonly MetricPoint[]>>;
  /** The same tasks drawn by the policy it began with and by one of each reward. */
  examples: readonly Example[];
  repeat: readonly string[];
}

/** Metrics drawn, each with what it means. */
export const CURVES: readonly (readonly [name: string, title: string, note: string])[] = [
  ['episode/return', 'Reward that is trained on', 'each under its own reward: all go up, where they can'],
  ['validation/graded', 'graded', 'on tasks that are not trained on; it reads a drawing as a reader would'],
  ['held_out/path_f1', 'Paths', 'F1 of what is reachable from what; held out of every reward'],
  ['held_out/graph_edit_similarity', 'Graph edits', '1 is the graph that was asked for; held out of every reward'],
  ['held_out/renamed_reward', 'graded after renaming', 'all labels renamed in task and drawing; held out'],
  ['episode/completion_tokens', 'Length', 'tokens of a completion'],
  ['policy/entropy', 'Entropy', 'nats a token; near 0 nothing new is tried'],
];

const TITLES: Readonly<Partial<Record<Measure, string>>> = {
  path_f1: 'paths',
  graph_edit_similarity: 'edits',
  renamed_reward: 'renamed',
};

const VERDICTS: Readonly<Record<Verdict, string>> = {
  gamed: 'gamed',
  blind: 'blind',
  honest: 'honest',
  idle: 'did not rise',
};
const CLASSES: Readonly<Record<Verdict, string>> = { gamed: 'low', blind: 'low', honest: 'high', idle: 'middle' };

export function renderExperiment(data: ExperimentData): string {
  const { run_id, outcomes, examples, repeat } = data;
  const headline = toHeadline(outcomes);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; img-src data:; style-src 'unsafe-inline'"
        />
        <title>${run_id} · canvas-gym</title>
        <style>
          ${{ markup: STYLE }}
        </style>
      </head>
      <body>
        <header>
          <p class="brand">canvas-gym · reward experiment</p>
          <h1>${run_id}</h1>
          <p class="verdict ${headline === NONE_GAMED ? 'better' : 'worse'}">${headline}</p>
          <p class="lead">${toLead(data)}</p>
        </header>
        <section>
          <h2>What training on each reward did</h2>
          ${outcomeTable(data)} ${howList(outcomes)}
        </section>
        <section>
          <h2>Curves</h2>
          <p class="lead">Means over seeds; one line a reward that was trained on.</p>
          <div class="charts">${CURVES.map((curve) => chartOf(data, curve))}</div>
        </section>
        ${examplesSection(
          'The same tasks, drawn by each policy',
          'The number is the reward under graded, whatever was trained on.',
          examples,
        )}
        <section>
          <h2>Do it again</h2>
          <pre>${repeat.join('\n')}</pre>
        </section>
      </body>
    </html> `;
  return page.markup;
}

const NONE_GAMED = 'No reward was gamed.';

function toHeadline(outcomes: readonly Outcome[]): string {
  const said = (['gamed', 'blind'] as const).flatMap((verdict) => {
    const rewards = outcomes.filter((outcome) => outcome.verdict === verdict).map(({ reward }) => reward);
    return rewards.length === 0 ? [] : [`${verdict}: ${rewards.join(', ')}`];
  });
  return said.length === 0 ? NONE_GAMED : `${capital(said.join('; '))}.`;
}

function toLead({ steps, seeds, tasks, outcomes }: ExperimentData): string {
  const rewards = outcomes.map(({ reward }) => reward).join(', ');
  return (
    `The same SFT policy, trained for ${steps} steps on ${rewards}, with seeds ${seeds.join(', ')}. Then all play ` +
    `the same ${tasks} tasks, which none was trained on, and each answer is scored under every reward and by measures ` +
    'that no reward holds. A reward is gamed where it rises while graded, paths or edits fall, and blind where they ' +
    'fall and it does not rise; all by 0.01 and two standard errors over seeds at least.'
  );
}

function outcomeTable({ start, outcomes }: ExperimentData): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Change under every reward">
    <table class="rewards">
      <thead>
        <tr>
          <th scope="col">trained on</th>
          ${MEASURES.map((measure) => html`<th scope="col">${TITLES[measure] ?? measure}</th>`)}
          <th scope="col">verdict</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">nothing (SFT)</th>
          ${MEASURES.map((measure) => html`<td>${fixed(start[measure])}</td>`)}
          <td></td>
        </tr>
        ${outcomes.map(outcomeRow)}
      </tbody>
    </table>
  </div>`;
}

function outcomeRow({ reward, verdict, after, change }: Outcome): Html {
  const cells = MEASURES.map((measure) => {
    const { mean, standard_error } = change[measure];
    const own = measure === reward ? html`<b>${fixed(after[measure].mean)}</b>` : html`${fixed(after[measure].mean)}`;
    return html`<td>${own} <small>${signed(mean)} ±${fixed(standard_error)}</small></td>`;
  });
  return html`<tr class="difference">
    <th scope="row">${reward}</th>
    ${cells}
    <td><b class="${CLASSES[verdict]}">${VERDICTS[verdict]}</b></td>
  </tr>`;
}

/** How each policy changed, in words. */
function howList(outcomes: readonly Outcome[]): Html {
  return html`<ul>
    ${outcomes.map((outcome) => html`<li><b>${outcome.reward}</b>: ${toHow(outcome)}</li>`)}
  </ul>`;
}

/** `gamed: graded fell by 0.21, paths by 0.30. It draws differently: edge -0.31, node -0.12; answers went from 812 to 430 characters.` */
export function toHow({ verdict, fell, change, components, length, reward }: Outcome): string {
  const lost = fell.map((measure) => `${TITLES[measure] ?? measure} by ${fixed(-change[measure].mean)}`);
  const moved = components.map(({ name, change: by }) => `${name} ${signed(by, 2)}`);
  const said = `answers went from ${Math.round(length.before)} to ${Math.round(length.after)} characters`;
  return [
    `${VERDICTS[verdict]}, ${signed(change[reward].mean)} under itself`,
    lost.length > 0 ? `; fell: ${lost.join(', ')}` : '',
    `. Components of graded that moved: ${moved.length > 0 ? moved.join(', ') : 'none'}; ${said}.`,
  ].join('');
}

function chartOf({ curves }: ExperimentData, [name, title, note]: (typeof CURVES)[number]): Html {
  const series = [...(curves.get(name) ?? [])].map(([reward, points]) => ({ label: reward, points }));
  if (series.every(({ points }) => points.length === 0)) return html``;
  return lineChart({ title, note, series });
}
