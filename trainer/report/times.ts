/** Where the time went: of the run by stage, and of REINFORCE by what a step does. */
import type { MetricPoint, StageTime } from '../../clients/store/index.ts';
import { toDuration } from '../progress.ts';
import type { Series } from './chart.ts';
import type { Curve } from './data.ts';
import { duration, html, type Html } from './html.ts';

type Points = readonly MetricPoint[];

/**
 * Seconds of each REINFORCE step in its parts. Sampling is a part of the rollout; what the rollout takes beside it is the
 * environment (and waiting for it).
 */
export function toTimeSplit(curves: readonly Curve[]): Series[] {
  const [sample, rollout, train] = ['time/sample_s', 'time/rollout_s', 'time/train_s'].map((name) =>
    pointsOf(curves, name),
  ) as [Points, Points, Points];
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
function less(whole: Points, part: Points): MetricPoint[] {
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

/** The stage's seconds in its parts; the rest is checkpoints, and steps that were taken anew after a cut. */
function toParts(seconds: number, curves: readonly Curve[]): { label: string; seconds: number }[] {
  const steps = toTimeSplit(curves);
  const validation = { label: 'validation', points: pointsOf(curves, 'time/validation_s') };
  const parts = [...steps, ...(validation.points.length > 0 ? [validation] : [])].map(({ label, points }) => ({
    label,
    seconds: points.reduce((sum, { value }) => sum + value, 0),
  }));
  const rest = seconds - parts.reduce((sum, part) => sum + part.seconds, 0);
  if (parts.length === 0) return [];
  return rest > 0 ? [...parts, { label: 'the rest', seconds: rest }] : parts;
}

function pointsOf(curves: readonly Curve[], name: string): Points {
  return curves.find((curve) => curve.stage === 'reinforce' && curve.name === name)?.points ?? [];
}
