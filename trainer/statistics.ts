/** Plain statistics in float64: two passes, mean subtracted first (`E[x^2] - E[x]^2` turns equal rewards into noise). */

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
  /** Mean in standard errors; 0 where every pair differs by the same amount of nothing. */
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

/** Figures that are finite; one that is not is the sign of a skipped update and has no place in the log. */
export function onlyFinite(metrics: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)));
}
