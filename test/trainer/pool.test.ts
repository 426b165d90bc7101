/** Several threads give what one gives: the same gradients up to rounding, the same draws, and always the same bytes. */
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRng } from '../../schemas/seed.ts';
import { createLoss, type LossSpec } from '../../trainer/losses.ts';
import { lossAndGradients, type LossResult } from '../../trainer/model/loss.ts';
import { createModel, disposeModel, readParameters, type Model } from '../../trainer/model/model.ts';
import { createOptimizer, DEFAULT_OPTIMIZER_SETTINGS } from '../../trainer/optimizer.ts';
import { createCompute, type Compute } from '../../trainer/pool/compute.ts';
import { cutBetweenRuns, shareOut } from '../../trainer/pool/partition.ts';
import { createLossBatch, createSmallModel, largestDifference, randomIds, SMALL_CONFIG } from './model-fixture.ts';

const LOSSES: LossSpec[] = [
  { name: 'weighted', normaliser: 10 },
  {
    name: 'policy',
    options: {
      ...{ policy_loss: 'ppo_clip', clip_low: 0.2, clip_high: 0.2 },
      ...{ kl_beta: 0.1, kl_estimator: 'k3', entropy_bonus: 0.01 },
    },
  },
];

let model: Model;
/** With 1, 2 and 3 threads. */
let computes: Compute[];
beforeAll(async () => {
  model = await createSmallModel('wasm');
  computes = await Promise.all([1, 2, 3].map((threads) => createCompute(model.backend, threads)));
});
afterAll(async () => {
  await Promise.all(computes.map((compute) => compute.close()));
});

function gradientValues({ gradients }: LossResult): Map<string, Float32Array> {
  const values = new Map([...gradients].map(([name, gradient]) => [name, Float32Array.from(gradient.dataSync())]));
  tf.dispose([...gradients.values()]);
  return values;
}

describe.each(LOSSES)('$name loss', (loss) => {
  test('loss, statistics and every gradient are those of one thread', async () => {
    const [alone, ...shared] = await Promise.all(
      computes.map((compute) => compute.lossAndGradients(model, createLossBatch(), loss, { temperature: 0.8 })),
    );
    const gradients = gradientValues(alone!);
    for (const result of shared) {
      expect(result.loss).toBeCloseTo(alone!.loss, 5);
      expect(largestDifference(result.logprobs.flat(), alone!.logprobs.flat())).toBeLessThan(1e-5);
      expect(largestDifference(result.entropies.flat(), alone!.entropies.flat())).toBeLessThan(1e-5);
      for (const [name, values] of gradientValues(result)) {
        expect(largestDifference(values, gradients.get(name)!), name).toBeLessThan(2e-5);
      }
    }
  });

  test('the same call gives the same bytes', async () => {
    for (const compute of computes) {
      const calls = [1, 2].map(() => compute.lossAndGradients(model, createLossBatch(), loss));
      const [first, second] = (await Promise.all(calls)).map(gradientValues);
      expect(first).toEqual(second);
    }
  });
});

test('threads compute with the weights of now and the model that is asked for', async () => {
  const batch = createLossBatch();
  const [alone, two] = [computes[0]!, computes[1]!];
  const other = createModel({ ...SMALL_CONFIG, num_hidden_layers: 1 }, model.backend, createRng(4n));
  const expectEqual = async (of: Model): Promise<void> => {
    const [a, b] = [await alone.computeLogprobs(of, batch), await two.computeLogprobs(of, batch)];
    expect(largestDifference(a.logprobs.flat(), b.logprobs.flat())).toBeLessThan(1e-5);
  };
  await expectEqual(model);
  await expectEqual(other);
  const gain = other.parameters.get('norm')!;
  gain.assign(tf.mul(gain, 2));
  await expectEqual(other);
  await expectEqual(model);
  disposeModel(other);
});

test('a row is sampled from its own stream, whatever thread it is sampled on', async () => {
  const rng = createRng(3n);
  const [a, b, c] = [randomIds(rng, 9), randomIds(rng, 4), randomIds(rng, 6)] as const;
  const prompts = [a, a, a, b, c, c];
  const settings = { max_new_tokens: 12, temperature: 1, eos_id: 2 };
  const all = await Promise.all(
    computes.map(async (compute) => {
      const sampler = await compute.createSampler(model);
      const sampled = await sampler.sample(prompts, settings, 7n);
      await sampler.dispose();
      return sampled.map(({ completion_ids }) => completion_ids);
    }),
  );
  expect(all[1]).toEqual(all[0]);
  expect(all[2]).toEqual(all[0]);
});

test("Muon's step ends in the same bytes on any number of threads, and leaves no tensor behind", async () => {
  const weights: Map<string, Float32Array>[] = [];
  for (const compute of computes) {
    const own = await createSmallModel(model.backend);
    const optimizer = createOptimizer(own, DEFAULT_OPTIMIZER_SETTINGS, compute.orthogonalise);
    for (const seed of [1, 2]) {
      const { gradients } = await lossAndGradients(own, createLossBatch(seed), createLoss(LOSSES[0]!));
      const before = tf.memory().numTensors - gradients.size;
      await optimizer.apply(gradients, 1);
      expect(tf.memory().numTensors).toBe(before);
    }
    weights.push(await readParameters(own));
    optimizer.dispose();
    disposeModel(own);
  }
  expect(weights[1]).toEqual(weights[0]);
  expect(weights[2]).toEqual(weights[0]);
});

test('what a thread throws is thrown here, and the thread goes on', async () => {
  const two = computes[1]!;
  const batch = { prompt_ids: [[1], [2]], completion_ids: [[3], [SMALL_CONFIG.vocab_size]] };
  await expect(two.computeLogprobs(model, batch)).rejects.toThrow(RangeError);
  await expect(two.computeLogprobs(model, { ...batch, completion_ids: [[3], [4]] })).resolves.toBeDefined();
});

test('a thread that is gone is an error, not a hang', async () => {
  const compute = await createCompute(model.backend, 2);
  const asked = compute.computeLogprobs(model, createLossBatch());
  await compute.close();
  await expect(asked).rejects.toThrow('a thread of the trainer ended');
  // closing what failed asks the thread once more, after its end too
  await expect(compute.computeLogprobs(model, createLossBatch())).rejects.toThrow('a thread of the trainer ended');
});

test('no tensor is left behind', async () => {
  const run = async (): Promise<void> => {
    for (const compute of computes)
      gradientValues(await compute.lossAndGradients(model, createLossBatch(), LOSSES[0]!));
  };
  await run();
  const before = tf.memory().numTensors;
  await run();
  expect(tf.memory().numTensors).toBe(before);
});

describe('sharing out', () => {
  const lists = (lengths: readonly number[]): number[][] => lengths.map((length, i) => Array<number>(length).fill(i));

  test('no part has more rows than another by more than the longest example', () => {
    const prompts = lists([9, 3, 7, 5, 8, 2, 6]);
    const completions = lists([20, 4, 11, 9, 30, 2, 5]);
    const shares = shareOut(prompts, completions, 2);
    const rows = shares.map((share) => share.reduce((sum, i) => sum + prompts[i]!.length + completions[i]!.length, 0));
    expect(shares.flat().sort((a, b) => a - b)).toEqual([...prompts.keys()]);
    expect(Math.abs(rows[0]! - rows[1]!)).toBeLessThan(38);
  });

  test('completions of a prompt stay together, unless they are more than a share', () => {
    const [a, b, c] = [[1], [2], [3]];
    const one = lists(Array<number>(6).fill(4));
    expect(shareOut([a, a, b, b, c, c], one, 3)).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
    ]);
    expect(shareOut([a, a, a, a, a, a], one, 2)).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ]);
    expect(shareOut([a], [[4]], 3)).toEqual([[0]]);
    expect(shareOut([], [], 3)).toEqual([]);
  });

  test('prompts are cut where a new one begins, if that is near', () => {
    const [a, b] = [[1], [2]];
    expect(cutBetweenRuns([a, a, a, a, a, b, b, b], 2)).toEqual([
      { from: 0, to: 5 },
      { from: 5, to: 8 },
    ]);
    expect(cutBetweenRuns([a, a, a, a], 2)).toEqual([
      { from: 0, to: 2 },
      { from: 2, to: 4 },
    ]);
    expect(cutBetweenRuns([a], 2)).toEqual([{ from: 0, to: 1 }]);
    expect(cutBetweenRuns([], 2)).toEqual([]);
  });
});
