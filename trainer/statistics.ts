/** Plain statistics in float64: two passes, mean subtracted first (`E[x^2] - E[x]^2` turns equal rewards into noise). */
import { createRng, hash64 } from '../schemas/seed.ts';

/** Arithmetic mean; NaN for an empty list. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Standard deviation with divisor n - 1; 0 for fewer than two values. */
export function standardDeviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1));
}

/** Standard error of the mean. */
export function standardError(values: readonly number[]): number {
  return values.length === 0 ? 0 : standardDeviation(values) / Math.sqrt(values.length);
}

export interface PairedDifference {
  mean: number;
  standard_error: number;
  /** Mean in standard errors. Where all pairs differ alike there is no error: then 0 if they are equal, else ±1e9. */
  z: number;
}

/**
 * Mean of `a[i] - b[i]` with its standard error: both policies on the same tasks, so that the tasks' own difficulty
 * cancels.
 * @throws RangeError where the lists differ in length.
 */
export function pairedDifference(a: readonly number[], b: readonly number[]): PairedDifference {
  if (a.length !== b.length) throw new RangeError(`paired lists differ in length: ${a.length} and ${b.length}`);
  const differences = a.map((value, i) => value - b[i]!);
  const centre = mean(differences);
  const error = standardError(differences);
  return { mean: centre, standard_error: error, z: error === 0 ? Math.sign(centre) * 1e9 : centre / error };
}

export interface Interval {
  low: number;
  high: number;
}

/** Means drawn for an interval: its ends are then off by about a thirtieth of its width. */
const RESAMPLES = 2000;

/**
 * 95 % interval of the mean by the percentile bootstrap (Efron 1979): values are drawn anew with replacement, and the
 * interval leaves 2.5 % of the means out at each end. Values that belong together (samples of one task) go in as their
 * mean, so that what is drawn is tasks. The same values give the same interval; NaN at both ends for an empty list.
 */
export function bootstrapInterval(values: readonly number[]): Interval {
  if (values.length === 0) return { low: NaN, high: NaN };
  const rng = createRng(hash64('bootstrap', values.length));
  const means = Float64Array.from({ length: RESAMPLES }, () => mean(values.map(() => rng.pick(values)))).sort();
  const left = Math.floor(0.025 * RESAMPLES);
  return { low: means[left]!, high: means[RESAMPLES - 1 - left]! };
}

/**
 * Probability that at least one of k samples passes, from n >= k of which c passed: 1 - C(n - c, k) / C(n, k), without
 * bias (Chen et al. 2021, "Evaluating Large Language Models Trained on Code", equation 1), as the product they give.
 * @throws RangeError where k is not in 1..n or c not in 0..n
 */
export function passAtK(n: number, c: number, k: number): number {
  if (!(k >= 1 && k <= n && c >= 0 && c <= n)) throw new RangeError(`pass@${k} of ${n} samples of which ${c} passed`);
  if (n - c < k) return 1;
  let allFail = 1;
  for (let i = n - c + 1; i <= n; i++) allFail *= 1 - k / i;
  return 1 - allFail;
}

/** Figures that are finite; one that is not is the sign of a skipped update and has no place in the log. */
export function onlyFinite(metrics: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)));
}
