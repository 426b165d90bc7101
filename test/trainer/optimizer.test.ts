/** Muon and AdamW against their formulas in plain numbers; clipping, skipping, and a state that can be taken up again. */
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRng } from '../../schemas/seed.ts';
import { createBackend } from '../../trainer/backend.ts';
import type { Backend } from '../../trainer/backend.ts';
import { readParameter } from '../../trainer/model/model.ts';
import type { Model } from '../../trainer/model/model.ts';
import { createOptimizer, DEFAULT_OPTIMIZER_SETTINGS, orthogonalise } from '../../trainer/optimizer.ts';
import { SMALL_CONFIG, createSmallModel, largestDifference } from './model-fixture.ts';

let wasm: Backend;
beforeAll(async () => {
  wasm = await createBackend('wasm');
});

/** Seeded gradients of every parameter, with a standard deviation of `scale`. */
function createGradients(model: Model, seed: number, scale = 1): Map<string, tf.Tensor> {
  const rng = createRng(BigInt(seed));
  const draw = (size: number): Float32Array => Float32Array.from({ length: size }, () => rng.normal() * scale);
  return new Map([...model.parameters].map(([name, v]) => [name, tf.tensor(draw(v.size), v.shape)]));
}

async function readAll(model: Model): Promise<Record<string, Float32Array>> {
  const values: Record<string, Float32Array> = {};
  for (const name of model.parameters.keys()) values[name] = await readParameter(model, name);
  return values;
}

const randomMatrix = (rows: number, columns: number): tf.Tensor2D => {
  const rng = createRng(7n);
  return tf.tensor2d(
    Float32Array.from({ length: rows * columns }, () => rng.normal()),
    [rows, columns],
  );
};

/** The iteration of Jordan et al. in doubles, on the transposed side: (X X') X = X (X' X). */
function newtonSchulz(values: ArrayLike<number>, rows: number, columns: number, iterations: number): number[] {
  const norm = Math.hypot(...Array.from(values)) + 1e-7;
  let x = Array.from({ length: rows }, (_, i) =>
    Array.from({ length: columns }, (_, j) => values[i * columns + j]! / norm),
  );
  const multiply = (a: number[][], b: number[][]) =>
    a.map((row) => b[0]!.map((_, j) => row.reduce((sum, value, k) => sum + value * b[k]![j]!, 0)));
  const turn = (a: number[][]) => a[0]!.map((_, j) => a.map((row) => row[j]!));
  for (let i = 0; i < iterations; i++) {
    const gram = multiply(x, turn(x));
    const once = multiply(gram, x);
    const twice = multiply(gram, once);
    x = x.map((row, r) => row.map((value, c) => 3.4445 * value - 4.775 * once[r]![c]! + 2.0315 * twice[r]![c]!));
  }
  return x.flat();
}

describe('orthogonalise', () => {
  test.each([
    [6, 6],
    [5, 12],
    [12, 5],
  ] as const)('%d x %d follows the iteration', (rows, columns) => {
    const x = randomMatrix(rows, columns);
    const expected = newtonSchulz(x.dataSync(), rows, columns, 3);
    expect(largestDifference(orthogonalise(x, 3, wasm.ops).dataSync(), expected)).toBeLessThan(1e-5);
  });

  test('brings every row near length 1, whatever the scale', () => {
    const scaled = tf.mul<tf.Tensor2D>(randomMatrix(4, 16), 1e-3);
    const q = orthogonalise(scaled, 5, wasm.ops);
    const gram = tf.matMul(q, q, false, true).dataSync<'float32'>();
    for (let i = 0; i < 4; i++) {
      expect(gram[i * 5]).toBeGreaterThan(0.4);
      expect(gram[i * 5]).toBeLessThan(1.6);
    }
  });
});

test('a step changes gains by AdamW and matrices by Muon, part by part', async () => {
  const model = await createSmallModel(wasm);
  const before = await readAll(model);
  const gradients = createGradients(model, 3, 1e-4); // small: no clipping
  const values = Object.fromEntries([...gradients].map(([name, g]) => [name, g.dataSync<'float32'>().slice()]));
  await createOptimizer(model).apply(gradients, 0.5);
  const after = await readAll(model);

  const adamw = before['norm']!.map((weight, i) => {
    const g = values['norm']![i]!;
    return weight - (0.5 * 2e-3 * g) / (Math.abs(g) + 1e-8); // the first step's moments are the gradient itself
  });
  expect(largestDifference(after['norm']!, adamw)).toBeLessThan(1e-6);

  const [rows, columns] = [SMALL_CONFIG.hidden_size, SMALL_CONFIG.intermediate_size];
  const half = (list: Float32Array): number[] => [...list].filter((_, i) => i % (2 * columns) < columns);
  const change = newtonSchulz(
    half(values['layers.0.gate_up']!),
    rows,
    columns,
    DEFAULT_OPTIMIZER_SETTINGS.muon_iterations,
  );
  const gate = half(before['layers.0.gate_up']!).map((weight, i) => weight - 0.5 * 0.02 * change[i]!);
  expect(largestDifference(half(after['layers.0.gate_up']!), gate)).toBeLessThan(1e-5);
});

test('with AdamW for matrices every weight takes the same kind of step', async () => {
  const model = await createSmallModel(wasm);
  const before = await readAll(model);
  const gradients = createGradients(model, 3, 1e-4); // small: no clipping
  const values = new Map([...gradients].map(([name, g]) => [name, g.dataSync<'float32'>().slice()]));
  const optimizer = createOptimizer(model, { ...DEFAULT_OPTIMIZER_SETTINGS, matrices: 'adamw', adamw_lr: 0.01 });
  await optimizer.apply(gradients, 1);
  const after = await readAll(model);
  for (const [name, value] of values) {
    const step = value.map((g) => (0.01 * g) / (Math.abs(g) + 1e-8)); // the first one's moments are the gradient itself
    const expected = before[name]!.map((weight, i) => weight - step[i]!);
    expect(largestDifference(after[name]!, expected), name).toBeLessThan(1e-6);
  }
  const { moments } = await optimizer.save();
  expect([...moments.keys()].filter((name) => name.startsWith('momentum/'))).toEqual([]);
});

test('the gradient is clipped to the norm, which is reported as it was', async () => {
  const settings = { ...DEFAULT_OPTIMIZER_SETTINGS, clip_norm: 0.5 };
  const model = await createSmallModel(wasm);
  const optimizer = createOptimizer(model, settings);
  const gradients = createGradients(model, 3, 10);
  const norm = Math.hypot(...[...gradients.values()].flatMap((g) => [...g.dataSync()]));
  const { grad_norm } = await optimizer.apply(gradients, 0);
  expect(grad_norm / norm).toBeCloseTo(1, 4);
  const { moments } = await optimizer.save();
  const momentum = [...moments].filter(([name]) => name.startsWith('momentum/')).flatMap(([, values]) => [...values]);
  const mean = [...moments].filter(([name]) => name.startsWith('mean/')).flatMap(([, values]) => [...values]);
  expect(Math.hypot(...momentum, ...mean.map((value) => value / 0.1))).toBeCloseTo(0.5, 4);
});

test.each([NaN, Infinity])(
  'a gradient with %d is skipped, counted, and leaves weights and moments alone',
  async (bad) => {
    const model = await createSmallModel(wasm);
    const optimizer = createOptimizer(model);
    await optimizer.apply(createGradients(model, 1), 1);
    const [weights, saved] = [await readAll(model), await optimizer.save()];
    const gradients = createGradients(model, 2);
    gradients.get('norm')!.dispose();
    gradients.set('norm', tf.fill([SMALL_CONFIG.hidden_size], bad));
    expect(await optimizer.apply(gradients, 1)).toMatchObject({ skipped: true });
    expect([optimizer.optimizer_step, optimizer.skipped_steps]).toEqual([1, 1]);
    expect(await readAll(model)).toEqual(weights);
    expect((await optimizer.save()).moments).toEqual(saved.moments);
  },
);

test('a saved state goes on as if it had not stopped', async () => {
  const straight = await createSmallModel(wasm);
  const optimizer = createOptimizer(straight);
  for (const seed of [1, 2, 3, 4]) await optimizer.apply(createGradients(straight, seed), 1);

  const stopped = await createSmallModel(wasm);
  const first = createOptimizer(stopped);
  for (const seed of [1, 2]) await first.apply(createGradients(stopped, seed), 1);
  const second = createOptimizer(stopped);
  second.restore(await first.save());
  for (const seed of [3, 4]) await second.apply(createGradients(stopped, seed), 1);
  expect(await readAll(stopped)).toEqual(await readAll(straight));
  expect(second.optimizer_step).toBe(4);
});

test('steps leave no tensor behind', async () => {
  const model = await createSmallModel(wasm);
  const optimizer = createOptimizer(model);
  await optimizer.apply(createGradients(model, 1), 1);
  const count = tf.memory().numTensors;
  for (const seed of [2, 3]) await optimizer.apply(createGradients(model, seed), 1);
  expect(tf.memory().numTensors).toBe(count);
});
