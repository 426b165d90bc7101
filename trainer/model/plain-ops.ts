/** The decoder's operators in plain tfjs ops, with tfjs's own gradients: the reference, and what cpu runs. */
import * as tf from '@tensorflow/tfjs-core';
import type { Group, Layout } from './layout.ts';
import { createRopeTable } from './ops.ts';
import type { AttentionGeometry, Ops } from './ops.ts';

/** Finite, so that no 0 * Infinity arises; exp of it is 0 in float32. */
const MASKED = -1e9;

export const plainOps: Ops = {
  gatherRows: (table, rows) => tf.gather(table, tf.tensor1d(rows, 'int32')),
  linear: (x, w) => tf.matMul(x, w),
  linearTransposed: (x, w) => tf.matMul(x, w, false, true),
  rmsNorm: (x, gain, epsilon) => normalise(x, gain, epsilon),
  attention,
  swiglu: (gateUp) => {
    const [gate, up] = tf.split(gateUp, 2, 1) as [tf.Tensor2D, tf.Tensor2D];
    return tf.mul(tf.mul(gate, tf.sigmoid(gate)), up);
  },
  tokenStatistics: (logits, targets, temperature) => {
    const logProbs = tf.logSoftmax(tf.div(logits, temperature));
    const chosen = tf.oneHot(tf.tensor1d(targets, 'int32'), logits.shape[1]);
    const targetLogprobs = tf.sum(tf.mul(logProbs, chosen), 1);
    const entropies = tf.neg(tf.sum(tf.mul(tf.exp(logProbs), logProbs), 1));
    return tf.stack([targetLogprobs, entropies]) as tf.Tensor2D;
  },
  matmul: (a, b, transposeA, transposeB) => tf.matMul(a, b, transposeA, transposeB),
  adamw: (weight, gradient, { mean, square }, { scale, beta1, beta2, rate, correction, epsilon }) =>
    tf.tidy(() => {
      const g = tf.mul(gradient, scale);
      mean.assign(tf.add(tf.mul(mean, beta1), tf.mul(g, 1 - beta1)));
      square.assign(tf.add(tf.mul(square, beta2), tf.mul(tf.square(g), 1 - beta2)));
      const root = tf.add(tf.sqrt(tf.mul(square, correction)), epsilon);
      return tf.sub(weight, tf.div(tf.mul(mean, rate), root));
    }),
};

function normalise<T extends tf.Tensor>(x: T, gain: tf.Tensor1D, epsilon: number): T {
  const meanSquare = tf.mean(tf.square(x), -1, true);
  return tf.mul(tf.mul(x, tf.rsqrt(tf.add(meanSquare, epsilon))), gain);
}

function attention(
  qkv: tf.Tensor2D,
  queryGain: tf.Tensor1D,
  keyGain: tf.Tensor1D,
  layout: Layout,
  geometry: AttentionGeometry,
): tf.Tensor2D {
  const { heads, kvHeads, headDim, normEpsilon } = geometry;
  const rows = qkv.shape[0];
  const sizes = [heads * headDim, kvHeads * headDim, kvHeads * headDim];
  const [q, k, v] = tf.split(qkv, sizes, 1).map((x) => tf.reshape(x, [rows, -1, headDim])) as tf.Tensor3D[];
  const rope = createRope(layout.positions, geometry);
  const queries = rope(normalise(q!, queryGain, normEpsilon));
  const keys = rope(normalise(k!, keyGain, normEpsilon));
  const outputs = layout.groups.map((group) => attendGroup(queries, keys, v!, group, heads / kvHeads));
  return tf.reshape(tf.concat(outputs, 0), [rows, heads * headDim]);
}

/** Rotates [N, heads, d] by each row's position. */
function createRope(positions: Int32Array, { headDim, ropeTheta }: AttentionGeometry): (x: tf.Tensor3D) => tf.Tensor3D {
  const length = positions.reduce((a, b) => Math.max(a, b), 0) + 1;
  const { cos, sin } = createRopeTable(length, headDim, ropeTheta);
  const rows = tf.tensor1d(positions, 'int32');
  const pick = (table: Float32Array): tf.Tensor3D =>
    tf.expandDims(tf.gather(tf.tensor2d(table, [length, headDim / 2]), rows), 1);
  const [c, s] = [pick(cos), pick(sin)];
  return (x) => {
    const [a, b] = tf.split(x, 2, 2) as [tf.Tensor3D, tf.Tensor3D];
    return tf.concat([tf.sub(tf.mul(a, c), tf.mul(b, s)), tf.add(tf.mul(b, c), tf.mul(a, s))], 2);
  };
}

/** Attention within one group's rows under its mask: [n, H, d]. */
function attendGroup(
  queries: tf.Tensor3D,
  keys: tf.Tensor3D,
  values: tf.Tensor3D,
  group: Group,
  repeat: number,
): tf.Tensor {
  const rowsOf = (x: tf.Tensor3D, times: number): tf.Tensor3D => {
    const part = tf.slice(x, [group.start, 0, 0], [group.length, -1, -1]);
    return tf.transpose(repeatHeads(part, times), [1, 0, 2]);
  };
  const [q, k, v] = [rowsOf(queries, 1), rowsOf(keys, repeat), rowsOf(values, repeat)];
  const scale = 1 / Math.sqrt(q.shape[2]);
  const scores = tf.add(tf.mul(tf.matMul(q, k, false, true), scale), createMask(group)); // [H, n, n]
  return tf.transpose(tf.matMul(tf.softmax(scores), v), [1, 0, 2]);
}

/** [n, KV, d] to [n, KV * times, d], each head repeated in place. */
function repeatHeads(x: tf.Tensor3D, times: number): tf.Tensor3D {
  if (times === 1) return x;
  const [n, heads, d] = x.shape;
  return tf.reshape(tf.tile(tf.expandDims(x, 2), [1, 1, times, 1]), [n, heads * times, d]);
}

/** 0 where a row may look, MASKED elsewhere: [1, n, n]. */
function createMask(group: Group): tf.Tensor3D {
  const n = group.length;
  const mask = new Float32Array(n * n).fill(MASKED);
  for (const segment of group.segments) {
    const prefix = segment.prefixStart - group.start;
    for (let row = segment.start - group.start, i = 0; i < segment.length; row++, i++) {
      mask.fill(0, row * n + prefix, row * n + prefix + segment.prefixLength);
      mask.fill(0, row * n + row - i, row * n + row + 1);
    }
  }
  return tf.tensor3d(mask, [1, n, n]);
}
