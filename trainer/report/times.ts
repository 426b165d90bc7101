/** Where the time went: of the run by stage, and of REINFORCE by what a step does. */
import type { MetricPoint, StageTime } from '../../clients/store/index.ts';
import { toDuration } from '../progress.ts';
import type { Series } from './chart.ts';
import type { Curve } from './data.ts';
import { duration, html, type Html } from './html.ts';

/**
 * Seconds of each REINFORCE step in its parts. Sampling is a part of the rollout; what the rollout takes beside it is the
 * environment (and waiting for it).
 */
export function toTimeSplit(curves: readonly Curve[]): Series[] {
  const find = (name: string): readonly MetricPoint[] =>
    curves.find((curve) => curve.stage === 'reinforce' && curve.name === name)?.points ?? [];
  const [sample, rollout, train] = [find('time/sample_s'), find('time/rollout_s'), find('time/train_s')];
  const parts =
    sample.length === 0
      ? [{ label: 'rollout', points: rollout }]
      : [
          { label: 'sampling', points: sample },
          { label: 'environment', points: less(rollout, sample) },
        ];
  return [...parts, { label: 'training', points: train }].filter(({ points }) => points.length > 0);
}

/** What is left of `whole` at the steps where `part` was measured too; never less than 0. */
function less(whole: readonly MetricPoint[], part: readonly MetricPoint[]): MetricPoint[] {
  const parts = new Map(part.map(({ optimizer_step, value }) => [optimizer_step, value]));
  return whole.flatMap(({ optimizer_step, value }) => {
    const taken = parts.get(optimizer_step);
    return taken === undefined ? [] : [{ optimizer_step, value: Math.max(0, value - taken) }];
  });
}

/** Time of all stages, so far where the run goes on; pauses between two parts of a run do not count. */
export function totalOf(stages: readonly StageTime[]): number {
  return stages.reduce((sum, { seconds }) => sum + seconds, 0);
}

export function timesSection(stages: readonly StageTime[], curves: readonly Curve[]): Html {
  if (stages.length === 0) return html``;
  const total = totalOf(stages);
  const rows = stages.map(({ stage, seconds }) => {
    const parts = stage === 'reinforce' ? toParts(seconds, curves) : [];
    return html`${timeRow(stage, seconds, total)}
    ${parts.map(({ label, seconds: taken }) => timeRow(label, taken, total, 'part'))}`;
  });
  return html`<section>
    <h2>Time</h2>
    <table class="times">
      <tbody>
        ${rows}
        <tr>
          <th scope="row">together</th>
          <td>${toDuration(total)}</td>
          <td></td>
        </tr>
      </tbody>
    </table>
  </section>`;
}

function timeRow(name: string, seconds: number, total: number, kind = 'whole'): Html {
  const share = total > 0 ? Math.round((100 * seconds) / total) : 0;
  return html`<tr class="${kind}">
    <th scope="row">${name}</th>
    <td class="bar" style="--share:${share}%">${duration(seconds)}</td>
    <td>${share} %</td>
  </tr>`;
}

/** The stage's seconds in the parts of its steps; the rest is between steps: validation, checkpoints, steps taken anew. */
function toParts(seconds: number, curves: readonly Curve[]): { label: string; seconds: number }[] {
  const parts = toTimeSplit(curves).map(({ label, points }) => ({
    label,
    seconds: points.reduce((sum, { value }) => sum + value, 0),
  }));
  const rest = seconds - parts.reduce((sum, part) => sum + part.seconds, 0);
  if (parts.length === 0) return [];
  return rest > 0 ? [...parts, { label: 'between steps', seconds: rest }] : parts;
}
