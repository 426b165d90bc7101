/** Every operator on the wasm heap against the plain tfjs ops on cpu: values and gradients, and finite differences. */
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRng, hash64 } from '../../schemas/seed.ts';
import { createBackend } from '../../trainer/backend.ts';
import type { Backend } from '../../trainer/backend.ts';
import { createLayout } from '../../trainer/model/layout.ts';
import type { Ops } from '../../trainer/model/ops.ts';
import { SMALL_CONFIG, createLossBatch, largestDifference } from './model-fixture.ts';

const layout = createLayout(createLossBatch(), SMALL_CONFIG);
const ROWS = layout.ids.length;
const GEOMETRY = { headDim: 8, ropeTheta: 10_000, normEpsilon: 1e-5 };
const rowsWithRepeats = Int32Array.from([4, 0, 4, 2, 4]);
const targets = Int32Array.from([3, 0, 12, 12]);
const queryWidth = (heads: number, kvHeads: number): number => (heads + 2 * kvHeads) * GEOMETRY.headDim;

interface Case {
  name: string;
  shapes: number[][];
  run: (ops: Ops, inputs: tf.Tensor[]) => tf.Tensor;
}

const matrix = (tensor: tf.Tensor | undefined): tf.Tensor2D => tensor as tf.Tensor2D;
const vector = (tensor: tf.Tensor | undefined): tf.Tensor1D => tensor as tf.Tensor1D;
const attention = (name: string, heads: number, kvHeads: number): Case => ({
  name,
  shapes: [[ROWS, queryWidth(heads, kvHeads)], [8], [8]],
  run: (ops, [qkv, q, k]) => ops.attention(matrix(qkv), vector(q), vector(k), layout, { ...GEOMETRY, heads, kvHeads }),
});
const statistics = (temperature: number): Case => ({
  name: `tokenStatistics at temperature ${temperature}`,
  shapes: [[4, 13]],
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
  { name: 'rmsNorm', shapes: [[9, 6], [6]], run: (ops, [x, gain]) => ops.rmsNorm(matrix(x), vector(gain), 1e-5) },
  { name: 'swiglu', shapes: [[5, 14]], run: (ops, [x]) => ops.swiglu(matrix(x)) },
  attention('attention, a key head each', 2, 2),
  attention('attention, grouped queries', 4, 2),
  statistics(1),
  statistics(0.7),
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
