/**
 * Attention as one batch: each completion with its prompt is a list of rows, all lists are brought to the longest one's
 * length, and every product is one batched matMul over [heads, lists]. Padding stands at the end, so that under the
 * causal mask no real row sees it. A prompt that several completions share is in each of their lists; its outputs are
 * read from the first.
 *
 * Letters: C lists, T their length, H query heads, G key heads, R = H / G, d head size.
 */
import * as tf from '@tensorflow/tfjs-core';
import { gatherRows, toUnit, unitGradient } from './batched-parts.ts';
import type { Layout } from './layout.ts';
import { createRopeTable, withGradient } from './ops.ts';
import type { AttentionGeometry } from './ops.ts';

/** Finite, so that no 0 * Infinity arises; exp of it is 0 in float32. */
const MASKED = -1e9;

/** How rows become lists and lists rows again. */
export interface Lists {
  readonly count: number;
  readonly length: number;
  /** Row of each place of a list, [C T]; padding repeats the list's last row. */
  readonly rows: Int32Array;
  /** Place of each row, in the first list that has it, [N]. */
  readonly places: Int32Array;
  /** True where rows and places are the same, as with lists of one length that share nothing. */
  readonly isIdentity: boolean;
}

export function batchedAttention(
  qkv: tf.Tensor2D,
  queryGain: tf.Tensor1D,
  keyGain: tf.Tensor1D,
  layout: Layout,
  geometry: AttentionGeometry,
): tf.Tensor2D {
  const lists = toLists(layout);
  const mixed = attendLists(gatherPlaces(qkv, lists), queryGain, keyGain, lists, geometry);
  return pickPlaces(mixed, lists);
}

/** The lists of a layout: for each segment after a prompt, the prompt and it; a prompt alone where it has none. */
export function toLists(layout: Layout): Lists {
  const lists = layout.groups.flatMap(({ segments }) => {
    const own = segments.filter((segment) => segment.prefixLength > 0);
    return (own.length > 0 ? own : segments).map((segment) => [
      ...range(segment.prefixStart, segment.prefixLength),
      ...range(segment.start, segment.length),
    ]);
  });
  const length = lists.reduce((most, list) => Math.max(most, list.length), 0);
  const rows = new Int32Array(lists.length * length);
  const places = new Int32Array(layout.ids.length).fill(-1);
  lists.forEach((list, c) => {
    for (let t = 0; t < length; t++) rows[c * length + t] = list[Math.min(t, list.length - 1)]!;
    list.forEach((row, t) => {
      if (places[row] === -1) places[row] = c * length + t;
    });
  });
  const isIdentity = rows.length === places.length && rows.every((row, i) => row === i);
  return { count: lists.length, length, rows, places, isIdentity };
}

const range = (start: number, length: number): number[] => Array.from({ length }, (_, i) => start + i);

/** [N, W] to [C T, W]; a row's gradient is the sum over its places, and padding's is zero. */
function gatherPlaces(x: tf.Tensor2D, { rows, isIdentity }: Lists): tf.Tensor2D {
  return isIdentity ? x : gatherRows(x, rows);
}

/** [C T, W] to [N, W]: each row from its place. */
function pickPlaces(x: tf.Tensor2D, { places, isIdentity }: Lists): tf.Tensor2D {
  return isIdentity ? x : gatherRows(x, places);
}

/** [C T, (H + 2 G) d] to [C T, H d]. */
function attendLists(
  qkv: tf.Tensor2D,
  queryGain: tf.Tensor1D,
  keyGain: tf.Tensor1D,
  lists: Lists,
  geometry: AttentionGeometry,
): tf.Tensor2D {
  const { heads, kvHeads, headDim: d, normEpsilon } = geometry;
  const { count: C, length: T } = lists;
  const scale = 1 / Math.sqrt(d);
  return withGradient<tf.Tensor2D>(
    [qkv, queryGain, keyGain],
    () => {
      const rope = createRope(T, geometry);
      const byHead = tf.transpose(tf.reshape(qkv, [C * T, heads + 2 * kvHeads, d]), [1, 0, 2]); // [H + 2 G, C T, d]
      const [q, k, v] = tf.split(byHead, [heads, kvHeads, kvHeads], 0) as [tf.Tensor3D, tf.Tensor3D, tf.Tensor3D];
      const [query, key] = [toUnit(q, normEpsilon), toUnit(k, normEpsilon)];
      const fold = (x: tf.Tensor, h: number): tf.Tensor4D => tf.reshape(x, [h, C, T, d]);
      const queries = rope.turn(fold(query.unit, heads), tf.mul(queryGain, scale)); // [H, C, T, d]
      const keys = rope.turn(fold(key.unit, kvHeads), keyGain); // [G, C, T, d]
      const values = fold(v, kvHeads);
      const scores = tf.matMul(queries, repeatHeads(keys, geometry), false, true); // [H, C, T, T]
      const weights = tf.softmax(tf.add(scores, causalMask(T)));
      const outputs = tf.matMul(weights, repeatHeads(values, geometry)); // [H, C, T, d]
      const byRow = tf.transpose(tf.reshape(outputs, [heads, C * T, d]), [1, 0, 2]);
      const value = tf.reshape<tf.Rank.R2>(byRow, [C * T, heads * d]);
      const saved = [query.unit, query.inverse, key.unit, key.inverse, queries, keys, values, weights, outputs];
      return { value, saved: [...saved, queryGain, keyGain] };
    },
    (dy, [qUnit, qInverse, kUnit, kInverse, queries, keys, values, weights, outputs, qGain, kGain]) => {
      const rope = createRope(T, geometry);
      const byHead = tf.transpose(tf.reshape(dy, [C * T, heads, d]), [1, 0, 2]);
      const dOutputs = tf.reshape(byHead, [heads, C, T, d]);
      const dValues = sumHeads(tf.matMul(weights!, dOutputs, true, false), geometry); // [G, C, T, d]
      const mean = tf.sum(tf.mul(dOutputs, outputs!), -1, true); // [H, C, T, 1], equals sum(dWeights weights) over a row
      // The product takes the mean off as it goes, by one more column: a pass over [T, T] less.
      const minusOne = tf.fill([heads, C, T, 1], -1);
      const [left, right] = [
        [dOutputs, mean],
        [repeatHeads(values!, geometry), minusOne],
      ].map((x) => tf.concat(x, 3));
      const dScores = tf.mul(weights!, tf.matMul(left!, right!, false, true)); // [H, C, T, T]
      const dQueries = tf.matMul(dScores, repeatHeads(keys!, geometry)); // [H, C, T, d]
      const dKeys = sumHeads(tf.matMul(dScores, queries!, true, false), geometry);
      const fromTurned = (dx: tf.Tensor, unit: tf.Tensor, inverse: tf.Tensor, gain: tf.Tensor, factor: number) => {
        const back = tf.reshape(rope.turnBack(dx as tf.Tensor4D), unit.shape); // gradient of unit * gain * factor
        const scaled = tf.mul(back, tf.mul(gain, factor));
        const dGain = tf.mul(tf.sum(tf.reshape(tf.mul(back, unit), [-1, d]), 0), factor);
        return { dx: unitGradient(scaled, unit, inverse), dGain };
      };
      const q = fromTurned(dQueries, qUnit!, qInverse!, qGain!, scale);
      const k = fromTurned(dKeys, kUnit!, kInverse!, kGain!, 1);
      const all = tf.concat([q.dx, k.dx, tf.reshape(dValues, [kvHeads, C * T, d])], 0); // [H + 2 G, C T, d]
      return [tf.reshape(tf.transpose(all, [1, 0, 2]), qkv.shape), q.dGain, k.dGain];
    },
  );
}

/** Rotation of [h, C, T, d] by the position in the list, with a gain [d] taken in, and its transpose without one. */
function createRope(length: number, { headDim: d, ropeTheta }: AttentionGeometry) {
  const half = d / 2;
  const table = createRopeTable(length, d, ropeTheta);
  const cos = tf.tensor2d(table.cos, [length, half]);
  const sin = tf.tensor2d(table.sin, [length, half]);
  const halves = (x: tf.Tensor4D): [tf.Tensor4D, tf.Tensor4D] => tf.split(x, 2, 3) as [tf.Tensor4D, tf.Tensor4D];
  return {
    turn: (x: tf.Tensor4D, gain: tf.Tensor): tf.Tensor4D => {
      const [a, b] = halves(x);
      const [ga, gb] = tf.split(gain, 2) as [tf.Tensor1D, tf.Tensor1D];
      const first = tf.sub(tf.mul(a, tf.mul(cos, ga)), tf.mul(b, tf.mul(sin, gb)));
      return tf.concat([first, tf.add(tf.mul(b, tf.mul(cos, gb)), tf.mul(a, tf.mul(sin, ga)))], 3) as tf.Tensor4D;
    },
    turnBack: (x: tf.Tensor4D): tf.Tensor4D => {
      const [a, b] = halves(x);
      const first = tf.add(tf.mul(a, cos), tf.mul(b, sin));
      return tf.concat([first, tf.sub(tf.mul(b, cos), tf.mul(a, sin))], 3) as tf.Tensor4D;
    },
  };
}

/** [G, ...] to [H, ...], each key head for the R query heads that read it. */
function repeatHeads(x: tf.Tensor, { heads, kvHeads }: AttentionGeometry): tf.Tensor {
  if (heads === kvHeads) return x;
  const [, ...rest] = x.shape;
  const flat = tf.reshape(x, [kvHeads, 1, -1]);
  return tf.reshape(tf.tile(flat, [1, heads / kvHeads, 1]), [heads, ...rest]);
}

/** The transpose of `repeatHeads`: [H, ...] to [G, ...]. */
function sumHeads(x: tf.Tensor, { heads, kvHeads }: AttentionGeometry): tf.Tensor {
  if (heads === kvHeads) return x;
  const [, ...rest] = x.shape;
  return tf.reshape(tf.sum(tf.reshape(x, [kvHeads, heads / kvHeads, -1]), 1), [kvHeads, ...rest]);
}

/** 0 up to the diagonal, MASKED after it: [T, T]. */
function causalMask(length: number): tf.Tensor2D {
  const mask = new Float32Array(length * length);
  for (let row = 0; row < length; row++) mask.fill(MASKED, row * length + row + 1, (row + 1) * length);
  return tf.tensor2d(mask, [length, length]);
}
