/** The decoder as a whole: both implementations agree, losses have the right gradients, packing changes nothing. */
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRng, hash64 } from '../../schemas/seed.ts';
import { createBackend } from '../../trainer/backend.ts';
import type { Backend } from '../../trainer/backend.ts';
import { createLayout } from '../../trainer/model/layout.ts';
import { computeLogprobs, lossAndGradients, weightedLoss } from '../../trainer/model/loss.ts';
import type { LossFunction } from '../../trainer/model/loss.ts';
import { createObjective, type ObjectiveOptions } from '../../trainer/objective.ts';
import { cloneModel, readParameter } from '../../trainer/model/model.ts';
import type { Model } from '../../trainer/model/model.ts';
import { tinyConfig } from '../../trainer/model/config.ts';
import { countParameters } from '../../trainer/model/parameters.ts';
import { SMALL_CONFIG, createLossBatch, createSmallModel, largestDifference, randomIds } from './model-fixture.ts';

const objective = (options: Partial<ObjectiveOptions>): LossFunction =>
  createObjective({
    ...{ policy_loss: 'reinforce', clip_low: 0.2, clip_high: 0.2, kl_beta: 0, kl_estimator: 'k3', entropy_bonus: 0 },
    ...options,
  });
const LOSSES: [string, LossFunction][] = [
  ['SFT: weighted cross entropy', weightedLoss(10)],
  ['REINFORCE: advantages, KL to a reference', objective({ kl_beta: 0.03 })],
  ['REINFORCE with an entropy bonus', objective({ entropy_bonus: 0.05 })],
  ['importance ratio, KL by k1', objective({ policy_loss: 'importance', kl_beta: 0.3, kl_estimator: 'k1' })],
];

let cpu: Backend;
let wasm: Backend;
beforeAll(async () => {
  cpu = await createBackend('cpu');
  wasm = await createBackend('wasm');
});

async function evaluate(model: Model, loss: LossFunction) {
  await tf.setBackend(model.backend.name);
  const result = await lossAndGradients(model, createLossBatch(), loss, { temperature: 0.8 });
  const gradients = new Map([...result.gradients].map(([name, g]) => [name, g.dataSync<'float32'>().slice()]));
  tf.dispose([...result.gradients.values()]);
  return { ...result, gradients };
}

describe.each(LOSSES)('%s', (_name, loss) => {
  test('wasm agrees with plain ops on cpu in loss, log-probabilities, entropies and every gradient', async () => {
    const plain = await evaluate(await createSmallModel(cpu), loss);
    const fused = await evaluate(await createSmallModel(wasm), loss);
    expect(fused.loss).toBeCloseTo(plain.loss, 4);
    expect(largestDifference(fused.logprobs.flat(), plain.logprobs.flat())).toBeLessThan(2e-5);
    expect(largestDifference(fused.entropies.flat(), plain.entropies.flat())).toBeLessThan(2e-5);
    for (const [name, gradient] of plain.gradients) {
      expect(largestDifference(fused.gradients.get(name)!, gradient), name).toBeLessThan(1e-4);
    }
  });

  test('its gradient of every parameter is what finite differences show', async () => {
    const model = await createSmallModel(wasm);
    const { gradients } = await evaluate(model, loss);
    const rng = createRng(hash64('finite differences'));
    for (const [parameter, gradient] of gradients) {
      const direction = gradient.map(() => rng.normal());
      const slope = gradient.reduce((sum, g, i) => sum + g * direction[i]!, 0);
      const size = Math.hypot(...gradient.map((g, i) => g * direction[i]!));
      const step = 2e-3;
      const [up, down] = [
        await lossAt(model, loss, parameter, direction, step),
        await lossAt(model, loss, parameter, direction, -step),
      ];
      expect(Math.abs((up - down) / (2 * step) - slope) / size, parameter).toBeLessThan(1e-2);
    }
  });
});

async function lossAt(
  model: Model,
  loss: LossFunction,
  name: string,
  direction: Float32Array,
  step: number,
): Promise<number> {
  await tf.setBackend(model.backend.name);
  const variable = model.parameters.get(name)!;
  const before = tf.clone(variable);
  variable.assign(tf.add(before, tf.mul(tf.tensor(direction, variable.shape), step)));
  const value = (await evaluate(model, loss)).loss;
  variable.assign(before);
  return value;
}

describe('packing', () => {
  test('a batch gives each example what it gives alone, shared prompts or not', async () => {
    const model = await createSmallModel(wasm);
    const batch = createLossBatch();
    const together = await computeLogprobs(model, batch);
    for (const [i, prompt] of batch.prompt_ids.entries()) {
      const alone = await computeLogprobs(model, { prompt_ids: [prompt], completion_ids: [batch.completion_ids[i]!] });
      expect(largestDifference(together.logprobs[i]!, alone.logprobs[0]!)).toBeLessThan(1e-5);
    }
  });

  test('a group reads its prompt once', () => {
    const [a, b] = [
      [1, 2, 3],
      [4, 5],
    ];
    const grouped = createLayout({ prompt_ids: [a, a], completion_ids: [b, b] }, SMALL_CONFIG);
    expect([...grouped.ids]).toEqual([1, 2, 3, 4, 4]);
    expect([...grouped.positions]).toEqual([0, 1, 2, 3, 3]);
    expect([...grouped.targetRows]).toEqual([2, 3, 2, 4]);
  });

  test('parts of a batch add up to the whole', async () => {
    const model = await createSmallModel(wasm);
    const loss = weightedLoss(10);
    const whole = await lossAndGradients(model, createLossBatch(), loss);
    const parts = await lossAndGradients(model, createLossBatch(), loss, { max_rows: 12 });
    expect(parts.loss).toBeCloseTo(whole.loss, 5);
    expect(parts.logprobs.map((row) => row.length)).toEqual(whole.logprobs.map((row) => row.length));
    for (const [name, gradient] of whole.gradients) {
      const difference = largestDifference(parts.gradients.get(name)!.dataSync(), gradient.dataSync());
      expect(difference, name).toBeLessThan(1e-5);
    }
  });
});

describe('what does not fit is refused before the graph', () => {
  const promptOf = (length: number) => ({ prompt_ids: [randomIds(createRng(1n), length)], completion_ids: [[1]] });
  const context = SMALL_CONFIG.max_position_embeddings;

  test.each([
    ['one below the context', context - 2, true],
    ['exactly the context', context - 1, true],
    ['one above the context', context, false],
  ])('%s', (_name, length, fits) => {
    const lay = () => createLayout(promptOf(length), SMALL_CONFIG);
    if (fits) expect(lay().ids.length).toBe(length);
    else expect(lay).toThrow(new RangeError(`${length + 1} tokens do not fit the context of ${context}`));
  });

  test.each([
    [39, true],
    [40, false],
    [-1, false],
    [1.5, false],
  ])('token id %d', (id, fits) => {
    const lay = () => createLayout({ prompt_ids: [[id]], completion_ids: [[1]] }, SMALL_CONFIG);
    if (fits) expect(lay).not.toThrow();
    else expect(lay).toThrow(new RangeError(`token id ${id} is outside the vocabulary of 40`));
  });

  test('a column that does not match the completions', async () => {
    const batch = { ...createLossBatch(), columns: { weights: [[1]] } };
    await expect(lossAndGradients(await createSmallModel(wasm), batch, weightedLoss(1))).rejects.toThrow(RangeError);
  });

  test('an empty batch, whose gradients would be what the memory held', async () => {
    const batch = { prompt_ids: [], completion_ids: [], columns: { weights: [] } };
    await expect(lossAndGradients(await createSmallModel(wasm), batch, weightedLoss(1))).rejects.toThrow(RangeError);
  });
});

test('no tensor is left behind by a forward pass or by a gradient whose result is disposed', async () => {
  const model = await createSmallModel(wasm);
  const count = async (): Promise<number> => {
    await computeLogprobs(model, createLossBatch());
    const { gradients } = await lossAndGradients(model, createLossBatch(), objective({ kl_beta: 1 }));
    tf.dispose([...gradients.values()]);
    return tf.memory().numTensors;
  };
  const first = await count();
  expect(await count()).toBe(first);
});

test('a clone keeps its weights when the original changes', async () => {
  const model = await createSmallModel(wasm);
  const clone = cloneModel(model);
  const before = await readParameter(model, 'norm');
  model.parameters.get('norm')!.assign(tf.zeros([SMALL_CONFIG.hidden_size]));
  expect(await readParameter(clone, 'norm')).toEqual(before);
});

test('the tiny preset has about half a million parameters', () => {
  expect(countParameters(tinyConfig(800))).toBe(800 * 128 + 2 * (4 * 128 * 128 + 3 * 128 * 384 + 2 * 128 + 64) + 128);
});
