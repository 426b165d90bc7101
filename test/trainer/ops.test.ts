/** Every operator on the wasm heap against the plain tfjs ops on cpu: values and gradients, and finite differences. */
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRng, hash64 } from '../../schemas/seed.ts';
import { createBackend } from '../../trainer/backend.ts';
import type { Backend } from '../../trainer/backend.ts';
import { createLayout } from '../../trainer/model/layout.ts';
import type { Layout } from '../../trainer/model/layout.ts';
import type { Ops } from '../../trainer/model/ops.ts';
import { SMALL_CONFIG, createLossBatch, largestDifference } from './model-fixture.ts';

const layout = createLayout(createLossBatch(), SMALL_CONFIG);
const GEOMETRY = { ropeTheta: 10_000, normEpsilon: 1e-5 };
const rowsWithRepeats = Int32Array.from([4, 0, 4, 2, 4]);
const targets = Int32Array.from([3, 0, 12, 12]);

interface Case {
  name: string;
  shapes: number[][];
  run: (ops: Ops, inputs: tf.Tensor[]) => tf.Tensor;
}

const matrix = (tensor: tf.Tensor | undefined): tf.Tensor2D => tensor as tf.Tensor2D;
const vector = (tensor: tf.Tensor | undefined): tf.Tensor1D => tensor as tf.Tensor1D;
const attention = (name: string, heads: number, kvHeads: number, headDim = 8, where = layout): Case => ({
  name,
  shapes: [[where.ids.length, (heads + 2 * kvHeads) * headDim], [headDim], [headDim]],
  run: (ops, [qkv, q, k]) =>
    ops.attention(matrix(qkv), vector(q), vector(k), where, { ...GEOMETRY, heads, kvHeads, headDim }),
});
/** A layout of a group: a prompt of `prompt` tokens, shared by completions of the lengths given. */
const groupOf = (prompt: number, ...completions: number[]): Layout => {
  const ids = (length: number): number[] => Array.from({ length }, (_, i) => i % SMALL_CONFIG.vocab_size);
  const batch = { prompt_ids: completions.map(() => ids(prompt)), completion_ids: completions.map(ids) };
  return createLayout(batch, { ...SMALL_CONFIG, max_position_embeddings: 256 });
};
const statistics = (temperature: number, vocab = 13): Case => ({
  name: `tokenStatistics at temperature ${temperature}, ${vocab} tokens`,
  shapes: [[4, vocab]],
  run: (ops, [logits]) => ops.tokenStatistics(matrix(logits), targets, temperature),
});
const CASES: Case[] = [
  { name: 'gatherRows', shapes: [[6, 5]], run: (ops, [table]) => ops.gatherRows(matrix(table), rowsWithRepeats) },
  {
    name: 'linear, narrow',
    shapes: [
      [9, 7],
      [7, 4],
    ],
    run: (ops, [x, w]) => ops.linear(matrix(x), matrix(w)),
  },
  {
    name: 'linear, wide',
    shapes: [
      [9, 4],
      [4, 19],
    ],
    run: (ops, [x, w]) => ops.linear(matrix(x), matrix(w)),
  },
  {
    name: 'linearTransposed',
    shapes: [
      [9, 7],
      [11, 7],
    ],
    run: (ops, [x, w]) => ops.linearTransposed(matrix(x), matrix(w)),
  },
  {
    name: 'linear, one row',
    shapes: [
      [1, 5],
      [5, 33],
    ],
    run: (ops, [x, w]) => ops.linear(matrix(x), matrix(w)),
  },
  {
    name: 'rmsNorm, one row of 5',
    shapes: [[1, 5], [5]],
    run: (ops, [x, g]) => ops.rmsNorm(matrix(x), vector(g), 1e-5),
  },
  { name: 'rmsNorm', shapes: [[9, 6], [6]], run: (ops, [x, gain]) => ops.rmsNorm(matrix(x), vector(gain), 1e-5) },
  { name: 'swiglu', shapes: [[5, 14]], run: (ops, [x]) => ops.swiglu(matrix(x)) },
  attention('attention, a key head each', 2, 2),
  attention('attention, grouped queries', 4, 2),
  attention('attention, heads of 6', 2, 1, 6),
  attention('attention, heads of 32, more than one block of rows', 2, 1, 32, groupOf(13, 30, 23)),
  attention('attention, heads of 20', 3, 3, 20, groupOf(9, 2, 10)),
  attention('attention, one row', 2, 1, 8, groupOf(1, 1)),
  statistics(1),
  statistics(0.7),
  statistics(1, 16),
];

/** Seeded inputs, and weights that make a scalar of the output: sum(weights * output). */
function inputsOf(name: string, shapes: number[][]): Float32Array[] {
  const rng = createRng(hash64('ops test', name));
  return shapes.map((shape) => Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => rng.normal()));
}

function weigh(output: tf.Tensor, name: string): tf.Scalar {
  const rng = createRng(hash64('ops test weights', name));
  const weights = Float32Array.from({ length: output.size }, () => rng.normal());
  return tf.sum(tf.mul(output, tf.tensor(weights, output.shape)));
}

async function evaluate(backend: Backend, { name, shapes, run }: Case, values: Float32Array[]) {
  await tf.setBackend(backend.name);
  const inputs = values.map((value, i) => tf.tensor(value, shapes[i]));
  const output = run(backend.ops, inputs);
  const { value, grads } = tf.valueAndGrads((...xs: tf.Tensor[]) => weigh(run(backend.ops, xs), name))(inputs);
  const result = {
    output: output.dataSync<'float32'>().slice(),
    scalar: value.dataSync<'float32'>()[0]!,
    gradients: grads.map((grad) => grad.dataSync<'float32'>().slice()),
  };
  tf.dispose([...inputs, output, value, ...grads]);
  return result;
}

let cpu: Backend;
let wasm: Backend;
beforeAll(async () => {
  cpu = await createBackend('cpu');
  wasm = await createBackend('wasm');
});

describe.each(CASES)('$name', (one) => {
  const values = inputsOf(one.name, one.shapes);

  test('gives on wasm what plain ops give on cpu, gradients too', async () => {
    const [plain, fused] = [await evaluate(cpu, one, values), await evaluate(wasm, one, values)];
    expect(largestDifference(fused.output, plain.output)).toBeLessThan(2e-5);
    plain.gradients.forEach((gradient, i) => {
      expect(largestDifference(fused.gradients[i]!, gradient)).toBeLessThan(5e-5);
    });
  });

  test('has the gradient that finite differences along a random direction show', async () => {
    const rng = createRng(hash64('direction', one.name));
    const direction = values.map((value) => value.map(() => rng.normal()));
    const step = 2e-3;
    const moved = (sign: number): Float32Array[] =>
      values.map((value, i) => value.map((x, j) => x + sign * step * direction[i]![j]!));
    const difference =
      ((await evaluate(wasm, one, moved(1))).scalar - (await evaluate(wasm, one, moved(-1))).scalar) / (2 * step);
    const { gradients } = await evaluate(wasm, one, values);
    const slope = gradients.flatMap((gradient, i) => Array.from(gradient, (g, j) => g * direction[i]![j]!));
    const expected = slope.reduce((a, b) => a + b, 0);
    const size = Math.hypot(...slope);
    expect(Math.abs(difference - expected) / size).toBeLessThan(5e-3);
  });
});

test.each([
  [1, 1, 1],
  [3, 5, 7],
  [4, 8, 4],
  [17, 9, 70],
  [66, 33, 1030],
])('matmul [%d, %d] over %d equals the sum of products in any transposition', async (m, n, k) => {
  await tf.setBackend('wasm');
  const [a, b] = inputsOf(`matmul ${m} ${n} ${k}`, [
    [m, k],
    [k, n],
  ]) as [Float32Array, Float32Array];
  const expected = Array.from({ length: m * n }, (_, at) => {
    const [i, j] = [Math.floor(at / n), at % n];
    return Array.from({ length: k }, (_, l) => a[i * k + l]! * b[l * n + j]!).reduce((sum, x) => sum + x, 0);
  });
  for (const [transposeA, transposeB] of [
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ] as const) {
    const left = transposeA ? tf.tensor2d(turned(a, m, k), [k, m]) : tf.tensor2d(a, [m, k]);
    const right = transposeB ? tf.tensor2d(turned(b, k, n), [n, k]) : tf.tensor2d(b, [k, n]);
    const product = wasm.ops.matmul(left, right, transposeA, transposeB);
    expect(product.shape).toEqual([m, n]);
    expect(largestDifference(product.dataSync(), expected)).toBeLessThan(1e-6 * k + 1e-5);
    tf.dispose([left, right, product]);
  }
});

/** [rows, columns] with its rows as columns. */
function turned(x: Float32Array, rows: number, columns: number): Float32Array {
  return x.map((_, at) => x[(at % rows) * columns + Math.floor(at / rows)]!);
}

test('softmax is right to 1e-6 of each probability, sums to 1, and is 0 far below the largest', async () => {
  await tf.setBackend('wasm');
  const { heap } = wasm;
  const columns = 403;
  const rng = createRng(5n);
  const logits = Float32Array.from({ length: columns }, (_, i) =>
    i === 7 ? -1e9 : Math.round(rng.normal() * 160) / 8,
  );
  const place = heap.scratch('test.softmax', columns);
  heap.floats.set(logits, place);
  heap.softmax(place, place, 1, columns);
  const p = heap.floats.slice(place, place + columns);
  const most = Math.max(...logits);
  const sum = logits.reduce((total, z) => total + Math.exp(z - most), 0);
  p.forEach((value, i) => {
    const exact = Math.exp(logits[i]! - most) / sum;
    if (exact > 1e-35) expect(Math.abs(value / exact - 1)).toBeLessThan(1e-6);
  });
  expect(p[7]).toBe(0);
  expect(p.reduce((total, value) => total + value, 0)).toBeCloseTo(1, 6);
});

test.each([1, 6, 37])('adamw of %d weights is on wasm what plain ops give on cpu', async (length) => {
  const [w, g, m] = inputsOf(`adamw ${length}`, [[length], [length], [length]]) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const v = m.map((x) => x * x + 0.1);
  const rates = { scale: 0.7, beta1: 0.9, beta2: 0.999, rate: 0.02, correction: 50, epsilon: 1e-8 };
  const results: Float32Array[][] = [];
  for (const { name, ops } of [cpu, wasm]) {
    await tf.setBackend(name);
    const state = { mean: tf.variable(tf.tensor1d(m)), square: tf.variable(tf.tensor1d(v)) };
    const weight = tf.tensor1d(w);
    const next = ops.adamw(weight, tf.tensor1d(g), state, rates);
    results.push([next, state.mean, state.square].map((tensor) => tensor.dataSync<'float32'>().slice()));
    expect([...weight.dataSync()]).toEqual([...w]); // clones of a weight share its data
  }
  results[0]!.forEach((expected, i) => {
    expect(largestDifference(results[1]![i]!, expected)).toBeLessThan(1e-6);
  });
});
