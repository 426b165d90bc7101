/**
 * Credit: from what an episode earned to the advantage of each of its turns.
 *
 * What a turn earns for learning is the environment's reward, less what the options add: a penalty for text that ran into
 * the token limit, and the KL to the reference policy where that is in the reward. A turn's return to go is what it and
 * the later turns of the episode earn, undiscounted; its advantage compares that with the same turn of its group.
 * Letters in shapes: E episodes, each with turns of its own; [E][turn] is a list of lists.
 */
import { computeAdvantages, nextMovingMean, type BaselineName } from './advantage.ts';
import { KL_ESTIMATES } from './objective.ts';
import type { Trajectory } from './rollout.ts';
import { standardDeviation } from './statistics.ts';

export interface CreditOptions {
  baseline: BaselineName;
  normalise: boolean;
  /** What a turn that ran into the token limit loses. */
  truncation_penalty: number;
  /** Weight of the KL to the reference policy, by k1, that is taken off the reward; 0 for none. */
  reward_kl_beta: number;
}

/**
 * What each turn earns for learning, [E][turn]. The KL in it is estimated by k1, the only one whose policy gradient is that
 * of KL(pi || ref): see KL_ESTIMATES.
 * @param reference_logprobs [E][turn][token], of the sampled tokens; needed where `reward_kl_beta` is not 0.
 */
export function learningRewards(
  trajectories: readonly Trajectory[],
  reference_logprobs: readonly (readonly (readonly number[])[])[] | undefined,
  { truncation_penalty, reward_kl_beta }: CreditOptions,
): number[][] {
  return trajectories.map(({ turns }, e) =>
    turns.map(({ reward, completion }, turn) => {
      const reference = reference_logprobs?.[e]?.[turn] ?? [];
      const kl =
        reward_kl_beta === 0 ? 0 : sumOf(completion.sampled_logprobs, (lp, t) => KL_ESTIMATES.k1(lp, reference[t]!));
      const penalty = completion.finish_reason === 'length' ? truncation_penalty : 0;
      return reward - penalty - reward_kl_beta * kl;
    }),
  );
}

/** Returns to go of each turn: its reward and all later ones, [E][turn]. */
export function returnsToGo(rewards_ET: readonly (readonly number[])[]): number[][] {
  return rewards_ET.map((rewards) => rewards.map((_, turn) => sumOf(rewards.slice(turn), (reward) => reward)));
}

/**
 * The advantage of every turn, [E][turn]: its return to go against those of the same turn in its group, or in the batch
 * where the baseline looks beyond the group.
 * @param groupOf The group of each episode, [E].
 * @param movingMeans Mean return to go of each turn over earlier batches, for the baseline of that name.
 */
export function computeTurnAdvantages(
  groupOf: readonly string[],
  returnsToGo_ET: readonly (readonly number[])[],
  { baseline, normalise }: Pick<CreditOptions, 'baseline' | 'normalise'>,
  movingMeans: readonly number[] = [],
): number[][] {
  const advantages_ET = returnsToGo_ET.map((turns) => new Array<number>(turns.length).fill(0));
  const turns = returnsToGo_ET.reduce((most, returns) => Math.max(most, returns.length), 0);
  for (let turn = 0; turn < turns; turn++) {
    const present = [...groupOf.keys()].filter((e) => turn < returnsToGo_ET[e]!.length);
    const returnsOf = (episodes: readonly number[]): number[] => episodes.map((e) => returnsToGo_ET[e]![turn]!);
    const batch_std = standardDeviation(returnsOf(present));
    const options = { baseline, normalise, batch_std, moving_mean: movingMeans[turn] };
    for (const members of groupBy(present, (e) => groupOf[e]!)) {
      const advantages_G = computeAdvantages(returnsOf(members), options);
      members.forEach((e, g) => {
        advantages_ET[e]![turn] = advantages_G[g]!;
      });
    }
  }
  return advantages_ET;
}

/** The moving mean of each turn after a batch with these returns to go. */
export function nextMovingMeans(previous: readonly number[], returnsToGo_ET: readonly (readonly number[])[]): number[] {
  const turns = Math.max(previous.length, ...returnsToGo_ET.map((returns) => returns.length));
  return Array.from({ length: turns }, (_, turn) => {
    const present = returnsToGo_ET.filter((returns) => turn < returns.length).map((returns) => returns[turn]!);
    return present.length === 0 ? previous[turn]! : nextMovingMean(previous[turn], present);
  });
}

function sumOf<T>(items: readonly T[], valueOf: (item: T, i: number) => number): number {
  return items.reduce((sum, item, i) => sum + valueOf(item, i), 0);
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups.values()];
}
