/** What the policies earn on tasks that none was trained on: tables by split, and charts by split, family and level. */
import { HELD_OUT_MEASURES, PRESETS, type HeldOutMeasure, type Preset } from '../../schemas/reward.ts';
import type { PairedDifference } from '../statistics.ts';
import type { Comparison, EvaluationSummary, GroupSummary, PolicySummary, SplitSummary } from '../summary.ts';
import { fixed, html, percent, policyName, signed, type Html } from './html.ts';
import { intervalChart, type IntervalRow } from './interval-chart.ts';

const HELD_OUT_TITLES: Readonly<Record<HeldOutMeasure, string>> = {
  path_f1: 'paths',
  graph_edit_similarity: 'edits',
  renamed_reward: 'renamed',
};
const OTHERS = PRESETS.filter((preset) => preset !== 'graded');
const CLEAR = 2;

export function evaluationSection(evaluation: EvaluationSummary | undefined): Html {
  if (!evaluation) return html``;
  const { splits, overall, pass_at_reward } = evaluation;
  const [only] = splits;
  const group = overall ?? only;
  if (!only || !group) return html``;
  return html`<section>
    <h2>Rewards</h2>
    <p class="lead">
      Means over tasks that none of the policies was trained on, <b>graded</b> with its 95 % interval: it is the one to
      judge by. pass@k is the chance that the best of k answers earns ${fixed(pass_at_reward, 2)} or more. No reward
      holds the next three: F1 of the paths, similarity by graph edits, the reward after all labels are renamed. Then
      come the same answers under the other presets. Differences are paired by task, ± one standard error.
    </p>
    ${splits.length === 1 ? splitTable(only) : html``}
    <div class="charts">
      ${partChart('family', group)} ${splits.length > 1 ? splitChart(splits) : html``} ${partChart('level', group)}
    </div>
    ${splits.length > 1 ? splits.map(splitTable) : html``}
  </section>`;
}

function splitTable({ split, levels, tasks, policies, comparisons }: SplitSummary): Html {
  const ks = shownKs(policies);
  const heads = [
    ...ks.map((k) => `pass@${k}`),
    ...HELD_OUT_MEASURES.map((measure) => HELD_OUT_TITLES[measure]),
    ...[...OTHERS, 'valid JSON', 'no errors'],
  ];
  const name = `${tasks} tasks of ${split}, level${levels.length === 1 ? '' : 's'} ${levels.join(', ')}`;
  return html`<h3>${name}</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Rewards of each policy on ${name}">
      <table class="rewards">
        <thead>
          <tr>
            <th scope="col">policy</th>
            <th scope="col" class="graded">graded</th>
            ${heads.map((head) => html`<th scope="col">${head}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${policies.map((policy) => policyRow(policy, ks))}
          ${comparisons.filter(isOfTrained).map((comparison) => comparisonRow(comparison, ks.length))}
        </tbody>
      </table>
    </div>`;
}

/** The least and the largest k; pass@k of those between lies between. */
function shownKs(policies: readonly PolicySummary[]): string[] {
  const ks = [...new Set(policies.flatMap(({ pass_at }) => Object.keys(pass_at)))].sort(
    (a, b) => Number(a) - Number(b),
  );
  return ks.length > 2 ? [ks[0]!, ks.at(-1)!] : ks;
}

function policyRow({ policy, rewards, held_out, pass_at, ...shares }: PolicySummary, ks: readonly string[]): Html {
  const { mean, low, high } = rewards.graded;
  const cells = [
    ...ks.map((k) => fixed(pass_at[k])),
    ...HELD_OUT_MEASURES.map((measure) => fixed(held_out?.[measure].mean)),
    ...OTHERS.map((preset) => fixed(rewards[preset].mean)),
    ...[percent(shares.valid_json), percent(shares.no_errors)],
  ];
  const share = Math.round(100 * Math.min(1, Math.max(0, mean)));
  return html`<tr>
    <th scope="row">${policyName(policy)}</th>
    <td class="bar graded" style="--share:${share}%">
      <b>${fixed(mean)}</b> <small>${fixed(low)} – ${fixed(high)}</small>
    </td>
    ${cells.map((cell) => html`<td>${cell}</td>`)}
  </tr>`;
}

/** A comparison that says what training did: of checkpoints, each playing as the other does. */
function isOfTrained({ policy, above }: Comparison): boolean {
  return ![policy, above].includes('teacher') && isGreedy(policy) === isGreedy(above);
}

function isGreedy(policy: string): boolean {
  return policy.endsWith(' greedy');
}

function comparisonRow({ policy, above, rewards, held_out }: Comparison, passes: number): Html {
  return html`<tr class="difference">
    <th scope="row">${policyName(policy)} − ${policyName(above)}</th>
    ${differenceCell(rewards.graded)} ${Array.from({ length: passes }, () => html`<td></td>`)}
    ${HELD_OUT_MEASURES.map((measure) => differenceCell(held_out?.[measure]))}
    ${OTHERS.map((preset: Preset) => differenceCell(rewards[preset]))}
    <td></td>
    <td></td>
  </tr>`;
}

function differenceCell(difference: PairedDifference | undefined): Html {
  if (!difference) return html`<td>–</td>`;
  const { mean, standard_error, z } = difference;
  const kind = z >= CLEAR ? 'up' : z <= -CLEAR ? 'down' : 'same';
  return html`<td class="${kind}"><b>${signed(mean)}</b> <small>± ${fixed(standard_error)}</small></td>`;
}

function splitChart(splits: readonly SplitSummary[]): Html {
  const policies = splits[0]!.policies.map(({ policy }) => policy);
  const rows = splits.map(({ split, policies: all }): IntervalRow => ({
    label: split,
    values: policies.map((name) => all.find(({ policy }) => policy === name)?.rewards.graded),
  }));
  const note = 'Graded reward: mean and 95 % interval.';
  return intervalChart({ title: 'By split', note, series: policies.map(policyName), rows });
}

function partChart(kind: 'family' | 'level', { policies }: GroupSummary): Html {
  const parts = policies.map(({ families, levels }) => (kind === 'family' ? families : levels));
  const names = [...new Set(parts.flatMap((part) => Object.keys(part)))].sort();
  if (names.length < 2) return html``;
  const rows = names.map((name): IntervalRow => ({
    label: `${kind === 'level' ? 'level ' : ''}${name.replaceAll('_', ' ')}`,
    values: parts.map((part) => part[name]),
  }));
  const note = 'Graded reward: mean and 95 % interval.';
  return intervalChart({ title: `By ${kind}`, note, series: policies.map(({ policy }) => policyName(policy)), rows });
}
