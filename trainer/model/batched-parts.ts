/** What the batched operators share: rows by index, and the scaling of RMSNorm with its gradient. */
import * as tf from '@tensorflow/tfjs-core';
import { withGradient } from './ops.ts';

/** Rows of a table: [R, D] and n indices to [n, D]; the gradient adds up what falls on a row. */
export function gatherRows(table: tf.Tensor2D, rows: Int32Array): tf.Tensor2D {
  const isWhole = rows.length === table.shape[0] && rows.every((row, i) => row === i);
  if (isWhole) return table;
  const indices = (): tf.Tensor1D => tf.tensor1d(rows, 'int32');
  return withGradient(
    [table],
    () => ({ value: tf.gather(table, indices()), saved: [] }),
    (dy) => [tf.unsortedSegmentSum(dy, indices(), table.shape[0])],
  );
}

/** x scaled to a root mean square of 1 over its last axis, and the factors. */
export function toUnit<T extends tf.Tensor>(x: T, epsilon: number): { unit: T; inverse: tf.Tensor } {
  const inverse = tf.rsqrt(tf.add(tf.mean(tf.square(x), -1, true), epsilon));
  return { unit: tf.mul(x, inverse), inverse };
}

/** The gradient of x from e, that of unit = x inverse: inverse (e - unit mean(e unit)). */
export function unitGradient(e: tf.Tensor, unit: tf.Tensor, inverse: tf.Tensor): tf.Tensor {
  return tf.mul(inverse, tf.sub(e, tf.mul(unit, tf.mean(tf.mul(e, unit), -1, true))));
}
