/**
 * The decoder's operators in few, large tfjs ops with gradients by hand: what TensorFlow and WebGPU run, where each op
 * costs tens of microseconds before it computes anything. Same results as plain-ops.ts, which is the reference.
 *
 * Attention is one batch of lists for all prompts, heads and completions (batched-attention.ts). Left out: fused kernels
 * of one backend alone, so that every op here exists on TensorFlow (CPU, CUDA) and WebGPU alike.
 */
import * as tf from '@tensorflow/tfjs-core';
import { batchedAttention } from './batched-attention.ts';
import { gatherRows, toUnit, unitGradient } from './batched-parts.ts';
import { withGradient } from './ops.ts';
import type { Ops } from './ops.ts';
import { plainOps } from './plain-ops.ts';

export const batchedOps: Ops = {
  ...plainOps,
  gatherRows,
  rmsNorm,
  attention: batchedAttention,
  swiglu,
  tokenStatistics,
};

/** y = n g with n = x r, r = 1 / sqrt(mean(x^2) + epsilon); dx = r (e - n mean(e n)) with e = dy g; dg = sum(dy n). */
function rmsNorm(x: tf.Tensor2D, gain: tf.Tensor1D, epsilon: number): tf.Tensor2D {
  return withGradient<tf.Tensor2D>(
    [x, gain],
    () => {
      const { unit, inverse } = toUnit(x, epsilon);
      return { value: tf.mul(unit, gain), saved: [unit, inverse, gain] };
    },
    (dy, [unit, inverse, g]) => [unitGradient(tf.mul(dy, g!), unit!, inverse!), tf.sum(tf.mul(dy, unit!), 0)],
  );
}

/** y = a s(a) u for x = [a | u]; da = dy u (s + a s (1 - s)), du = dy a s. */
function swiglu(gateUp: tf.Tensor2D): tf.Tensor2D {
  return withGradient<tf.Tensor2D>(
    [gateUp],
    () => {
      const [gate, up] = tf.split(gateUp, 2, 1) as [tf.Tensor2D, tf.Tensor2D];
      const gated = tf.mul(gate, tf.sigmoid(gate)); // [N, F]
      return { value: tf.mul(gated, up), saved: [gate, up, gated] };
    },
    (dy, [gate, up, gated]) => {
      const sigmoid = tf.sigmoid(gate!);
      const slope = tf.add(sigmoid, tf.mul(gated!, tf.sub(1, sigmoid)));
      return [tf.concat([tf.mul(tf.mul(dy, up!), slope), tf.mul(dy, gated!)], 1)];
    },
  );
}

/**
 * With l = log softmax(z / t), p = exp(l), H = -sum(p l): the gradient of a l[target] + b H in z is
 * (a (onehot(target) - p) - b p (l + H)) / t.
 */
function tokenStatistics(logits: tf.Tensor2D, targets: Int32Array, temperature: number): tf.Tensor2D {
  const [count, vocabulary] = logits.shape;
  const places = targets.map((target, k) => k * vocabulary + target);
  return withGradient<tf.Tensor2D>(
    [logits],
    () => {
      const logProbs = tf.logSoftmax(temperature === 1 ? logits : tf.div(logits, temperature)); // [K, V]
      const chosen = tf.gather(tf.reshape(logProbs, [-1]), tf.tensor1d(places, 'int32')); // [K]
      const entropies = tf.neg(tf.sum(tf.mul(tf.exp(logProbs), logProbs), 1)); // [K]
      return { value: tf.stack([chosen, entropies]) as tf.Tensor2D, saved: [logProbs, entropies] };
    },
    (dy, [logProbs, entropies]) => {
      const [a, b] = tf.split(tf.div(dy, temperature), 2, 0).map((row) => tf.reshape(row, [count, 1])) as [
        tf.Tensor2D,
        tf.Tensor2D,
      ];
      const pull = tf.add(tf.mul(logProbs!, b), tf.add(a, tf.mul(b, tf.reshape(entropies!, [count, 1]))));
      const chosen = tf.oneHot(tf.tensor1d(targets, 'int32'), vocabulary, 1, 0, 'float32');
      return [tf.sub(tf.mul(chosen, a), tf.mul(tf.exp(logProbs!), pull))];
    },
  );
}
