import { describe, expect, test } from 'vitest';
import {
  computeTurnAdvantages,
  learningRewards,
  nextMovingMeans,
  returnsToGo,
  type CreditOptions,
} from '../../trainer/credit.ts';
import type { Completion, PolicyTurn, Trajectory } from '../../trainer/rollout.ts';
import { standardDeviation } from '../../trainer/statistics.ts';

const close = (got: readonly number[][], expected: readonly number[][]): void => {
  expect(got.map((row) => row.length)).toEqual(expected.map((row) => row.length));
  expected.forEach((row, e) => {
    row.forEach((value, turn) => {
      expect(got[e]![turn], `episode ${e}, turn ${turn}`).toBeCloseTo(value, 12);
    });
  });
};

describe('what a turn earns for learning', () => {
  const turn = (reward: number, finish_reason: Completion['finish_reason'], sampled_logprobs: number[]): PolicyTurn =>
    ({ reward, completion: { finish_reason, sampled_logprobs } }) as unknown as PolicyTurn;
  const trajectories = [
    { turns: [turn(0.5, 'stop', [-1, -2]), turn(0.25, 'length', [-0.5])] },
    { turns: [turn(1, 'stop', [-3])] },
  ] as unknown as Trajectory[];
  const reference = [[[-1.5, -1], [-0.5]], [[-4]]];
  const options: CreditOptions = {
    ...{ baseline: 'none', normalise: false, truncation_penalty: 0, reward_kl_beta: 0 },
  };

  test('is the reward, where nothing is added', () => {
    expect(learningRewards(trajectories, reference, options)).toEqual([[0.5, 0.25], [1]]);
  });

  test('loses the penalty where the token limit cut the completion', () => {
    close(learningRewards(trajectories, reference, { ...options, truncation_penalty: 0.2 }), [[0.5, 0.05], [1]]);
  });

  test('loses beta times the KL of its tokens by k1: by hand', () => {
    const rewards = learningRewards(trajectories, reference, { ...options, reward_kl_beta: 0.1 });
    close(rewards, [[0.5 - 0.1 * (0.5 - 1), 0.25], [1 - 0.1 * 1]]);
  });
});

test('the return to go of a turn is what it and later ones earn', () => {
  close(returnsToGo([[0.2, 0.4, -0.1], [], [0.3]]), [[0.5, 0.3, -0.1], [], [0.3]]);
});

describe('computeTurnAdvantages', () => {
  const options = { baseline: 'group_mean', normalise: false } as const;

  test('a turn is compared with the same turn of its group', () => {
    const advantages = computeTurnAdvantages(['a', 'a', 'b', 'b'], [[0.6, 0.4], [0.4], [0.9], [0.1]], options);
    close(advantages, [[0.1, 0], [-0.1], [0.4], [-0.4]]);
  });

  test('a group whose episodes all return the same gives exact zeros', () => {
    expect(computeTurnAdvantages(['a', 'a'], [[0.3], [0.1 + 0.2]], options)).toEqual([[0], [0]]);
  });

  test('the moving mean of the turn is the baseline of that name', () => {
    const advantages = computeTurnAdvantages(
      ['a', 'b'],
      [[0.6, 0.4], [0.4]],
      { ...options, baseline: 'moving_mean' },
      [0.5, 0.1],
    );
    close(advantages, [[0.1, 0.3], [-0.1]]);
  });

  test('normalised, it is divided by the standard deviation of the turn over the batch, not within a group', () => {
    const returns = [[0.5, 0.2], [0.5001], [0.9, 0.6], [0.9]];
    const own = { baseline: 'moving_mean', normalise: true } as const;
    const advantages = computeTurnAdvantages(['a', 'a', 'b', 'b'], returns, own, [0.7, 0.1]);
    const [first, second] = [standardDeviation([0.5, 0.5001, 0.9, 0.9]), standardDeviation([0.2, 0.6])];
    close(advantages, [[-0.2 / first, 0.1 / second], [-0.1999 / first], [0.2 / first, 0.5 / second], [0.2 / first]]);
  });
});

test('the moving mean of a turn takes in a tenth of the batch; a turn nobody reached keeps its own', () => {
  close([nextMovingMeans([0.5, 0.2], [[0.7], [0.9]])], [[0.9 * 0.5 + 0.1 * 0.8, 0.2]]);
  close([nextMovingMeans([], [[0.7, 0.1], [0.9]])], [[0.8, 0.1]]);
});
