/**
 * Advantages: an episode's return minus a baseline that does not depend on the episode's own actions, which leaves the
 * policy gradient unbiased and makes it far less noisy (Williams 1992; Sutton and Barto 2018, 13.4).
 */
import { mean, standardDeviation } from './statistics.ts';

export const BASELINES = ['none', 'moving_mean', 'group_mean', 'leave_one_out'] as const;
export type BaselineName = (typeof BASELINES)[number];

/** Returns that spread less than this are all equal but for rounding: a group of them has no signal. */
const MIN_STD = 1e-6;

/** Share of the old value that the moving mean keeps per batch. */
const MOVING_MEAN_DECAY = 0.9;

export interface AdvantageOptions {
  baseline: BaselineName;
  /**
   * Divide by the standard deviation of the returns that the baseline compares: of the group, as GRPO does (Shao et al.
   * 2024, arXiv 2402.03300, 4.1.2), or with `none` and `moving_mean` of the batch (REINFORCE++, Hu et al. 2025, arXiv
   * 2501.03262), since what sets such an advantage is not how far the group's returns are apart.
   */
  normalise: boolean;
  /** Standard deviation over the batch, for `none` and `moving_mean`; they are not normalised without it. */
  batch_std?: number | undefined;
  /** Mean return to go of earlier batches, for `moving_mean`; undefined before the first. */
  moving_mean?: number | undefined;
}

type Baseline = (returns_G: readonly number[], options: AdvantageOptions) => number[];

/** name -> the baseline of each return of a group. */
const BASELINE: Readonly<Record<BaselineName, Baseline>> = {
  none: (returns_G) => returns_G.map(() => 0),
  moving_mean: (returns_G, { moving_mean }) => returns_G.map(() => moving_mean ?? 0),
  group_mean: (returns_G) => returns_G.map(() => mean(returns_G)),
  // RLOO: the mean of the other samples (Kool et al. 2019; Ahmadian et al. 2024, arXiv 2402.14740).
  leave_one_out: (returns_G) => {
    const total = returns_G.reduce((sum, value) => sum + value, 0);
    return returns_G.map((value) => (returns_G.length < 2 ? 0 : (total - value) / (returns_G.length - 1)));
  },
};

/**
 * Advantages [G] of one group's returns [G].
 * Baselines that compare within the group give exact zeros for a group without variance, so also for a group of one.
 */
export function computeAdvantages(returns_G: readonly number[], options: AdvantageOptions): number[] {
  const withinGroup = options.baseline === 'group_mean' || options.baseline === 'leave_one_out';
  if (withinGroup && isFlatGroup(returns_G)) return returns_G.map(() => 0);
  const baseline_G = BASELINE[options.baseline](returns_G, options);
  const spread = withinGroup ? standardDeviation(returns_G) : (options.batch_std ?? 1);
  const scale = options.normalise && spread >= MIN_STD ? spread : 1;
  return returns_G.map((value, i) => (value - baseline_G[i]!) / scale);
}

/** Whether a group's returns are all equal, up to rounding. */
export function isFlatGroup(returns_G: readonly number[]): boolean {
  return standardDeviation(returns_G) < MIN_STD;
}

/** The moving mean after a batch with these returns. */
export function nextMovingMean(previous: number | undefined, returns: readonly number[]): number {
  const batch = mean(returns);
  return previous === undefined ? batch : MOVING_MEAN_DECAY * previous + (1 - MOVING_MEAN_DECAY) * batch;
}
