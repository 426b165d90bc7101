/**
 * Curves made small without a lie: a run of thousands of steps becomes a few hundred buckets, each with the mean, the least
 * and the most of its steps, so that a single spike still reaches its height in the picture.
 */
import type { MetricPoint } from '../../clients/store/index.ts';

export interface Bucket {
  /** Last step of the bucket. */
  optimizer_step: number;
  mean: number;
  least: number;
  most: number;
}

/** @returns at most `most` buckets of equal numbers of points; one a point where there are no more than that. */
export function toBuckets(points: readonly MetricPoint[], most: number): Bucket[] {
  const size = Math.max(1, Math.ceil(points.length / most));
  return Array.from({ length: Math.ceil(points.length / size) }, (_, i) => {
    const values = points.slice(i * size, (i + 1) * size);
    return {
      optimizer_step: values.at(-1)!.optimizer_step,
      mean: values.reduce((sum, { value }) => sum + value, 0) / values.length,
      least: values.reduce((least, { value }) => Math.min(least, value), Infinity),
      most: values.reduce((highest, { value }) => Math.max(highest, value), -Infinity),
    };
  });
}

/** Centred moving mean over about a twelfth of the curve, of buckets' means. */
export function smooth(buckets: readonly Bucket[]): MetricPoint[] {
  const reach = Math.max(1, Math.round(buckets.length / 24));
  return buckets.map(({ optimizer_step }, i) => {
    const near = buckets.slice(Math.max(0, i - reach), i + reach + 1);
    return { optimizer_step, value: near.reduce((sum, { mean }) => sum + mean, 0) / near.length };
  });
}

/**
 * Series laid one on the other, for parts of a whole.
 * @returns for each series the top of its area at the steps that all of them have; the one below it is its floor
 */
export function stack(series: readonly (readonly MetricPoint[])[]): MetricPoint[][] {
  const byStep = series.map((points) => new Map(points.map(({ optimizer_step, value }) => [optimizer_step, value])));
  const steps = (series[0] ?? []).map(({ optimizer_step }) => optimizer_step);
  const shared = steps.filter((step) => byStep.every((values) => values.has(step)));
  return series.map((_, top) =>
    shared.map((optimizer_step) => ({
      optimizer_step,
      value: byStep.slice(0, top + 1).reduce((sum, values) => sum + values.get(optimizer_step)!, 0),
    })),
  );
}
