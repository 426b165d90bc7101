/** The objective against PyTorch: test/tools/objectives.py wrote the values, from the papers' formulas. */
import * as tf from '@tensorflow/tfjs-core';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { createBackend } from '../../trainer/backend.ts';
import type { Backend, BackendName } from '../../trainer/backend.ts';
import {
  createObjective,
  isClipped,
  KL_ESTIMATES,
  LENGTH_WEIGHTS,
  type LengthName,
  type ObjectiveOptions,
} from '../../trainer/objective.ts';
import { largestDifference } from './model-fixture.ts';

interface Reference {
  temperature: number;
  lengths: number[];
  truncated: number;
  length_divisor: number;
  logits: number[][];
  targets: number[];
  advantages: number[];
  sampled_logprobs: number[];
  reference_logprobs: number[];
  cases: {
    options: ObjectiveOptions & { length: LengthName; mask_truncated: boolean };
    loss: number;
    gradient: number[][];
  }[];
}

const REFERENCE = JSON.parse(readFileSync('test/data/trainer/objectives.json', 'utf8')) as Reference;
const { lengths, truncated } = REFERENCE;
const perToken = (values_E: readonly number[]): number[] =>
  lengths.flatMap((length, e) => new Array<number>(length).fill(values_E[e]!));

describe.each(['cpu', 'wasm'] as const)('on %s', (name: BackendName) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await createBackend(name);
  });

  test.each(REFERENCE.cases.map((each) => [JSON.stringify(each.options), each] as const))(
    'loss and gradient are those of PyTorch: %s',
    async (_name, { options, loss, gradient }) => {
      await tf.setBackend(backend.name);
      const tokens_E = lengths.map((length, e) => (options.mask_truncated && e === truncated ? 0 : length));
      const columns: Record<string, number[]> = {
        weights: perToken(LENGTH_WEIGHTS[options.length](tokens_E, REFERENCE.length_divisor)),
        advantages: perToken(REFERENCE.advantages),
        sampled_logprobs: REFERENCE.sampled_logprobs,
        reference_logprobs: REFERENCE.reference_logprobs,
      };
      const logits = tf.variable(tf.tensor2d(REFERENCE.logits));
      const targets = Int32Array.from(REFERENCE.targets);
      const { value, grads } = tf.variableGrads(() => {
        const values = backend.ops.tokenStatistics(logits, targets, REFERENCE.temperature);
        const [logprobs, entropies] = tf.unstack(values) as [tf.Tensor1D, tf.Tensor1D];
        return createObjective(options)({ logprobs, entropies, column: (column) => tf.tensor1d(columns[column]!) });
      }, [logits]);
      expect(value.dataSync()[0]).toBeCloseTo(loss, 5);
      expect(largestDifference(grads[logits.name]!.dataSync(), gradient.flat())).toBeLessThan(2e-6);
    },
  );
});

describe('KL estimates', () => {
  // pi and ref over three tokens: the mean of an estimate over pi's own samples is KL(pi || ref).
  const pi = [0.5, 0.3, 0.2];
  const ref = [0.25, 0.25, 0.5];
  const exact = pi.reduce((sum, p, i) => sum + p * Math.log(p / ref[i]!), 0);

  test.each(['k1', 'k3'] as const)('%s has the divergence as its mean', (name) => {
    const mean = pi.reduce((sum, p, i) => sum + p * KL_ESTIMATES[name](Math.log(p), Math.log(ref[i]!)), 0);
    expect(mean).toBeCloseTo(exact, 12);
  });

  test('as a reward k1 gives the gradient of the divergence, and k3 next to nothing', () => {
    // by logit j: sum_i p_i k_i ([i = j] - p_j), against p_j (log p_j / ref_j - KL)
    const each = (name: 'k1' | 'k3') => pi.map((p, i) => KL_ESTIMATES[name](Math.log(p), Math.log(ref[i]!)));
    const meanOf = (values: readonly number[]) => values.reduce((sum, value, i) => sum + pi[i]! * value, 0);
    const scoreGradient = (values: readonly number[]) => values.map((value, j) => pi[j]! * (value - meanOf(values)));
    const exact = pi.map((p, j) => p * (Math.log(p / ref[j]!) - meanOf(each('k1'))));
    expect(largestDifference(scoreGradient(each('k1')), exact)).toBeLessThan(1e-12);
    expect(Math.hypot(...scoreGradient(each('k3')))).toBeLessThan(0.5 * Math.hypot(...exact));
  });

  test('k3 is never negative, k1 may be', () => {
    const each = (name: 'k1' | 'k3') => pi.map((p, i) => KL_ESTIMATES[name](Math.log(p), Math.log(ref[i]!)));
    expect(Math.min(...each('k3'))).toBeGreaterThan(0);
    expect(Math.min(...each('k1'))).toBeLessThan(0);
  });
});

describe('length weights', () => {
  test.each([
    ['token', [0.25, 0.25, 0]],
    ['sequence', [1 / 9, 1 / 3, 0]],
    ['fixed', [1 / 15, 1 / 15, 0]],
  ] as const)('%s: of episodes with 3, 1 and no tokens that count', (name, expected) => {
    expect(LENGTH_WEIGHTS[name]([3, 1, 0], 5)).toEqual(expected);
  });

  test('a batch without any token that counts has no weights, and none is NaN', () => {
    for (const name of ['token', 'sequence', 'fixed'] as const) expect(LENGTH_WEIGHTS[name]([0, 0], 5)).toEqual([0, 0]);
  });
});

test('a token is clipped where its ratio is out of bounds on the side its advantage pushes to', () => {
  const range = { clip_low: 0.2, clip_high: 0.3 };
  expect(isClipped(Math.log(1.31), 1, range)).toBe(true);
  expect(isClipped(Math.log(1.29), 1, range)).toBe(false);
  expect(isClipped(Math.log(1.31), -1, range)).toBe(false);
  expect(isClipped(Math.log(0.79), -1, range)).toBe(true);
  expect(isClipped(Math.log(0.79), 1, range)).toBe(false);
});
