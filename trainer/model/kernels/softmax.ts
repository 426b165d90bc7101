/** Softmax of rows. */
import { exp4 } from './exp';
import { loadPart, max4, storePart, sum4 } from './simd';

/** The largest of `length` (at least 1) elements. */
export function largest(x: usize, length: i32): f32 {
  let best: f32 = load<f32>(x);
  let i = 0;
  if (length >= 4) {
    let lanes = v128.load(x);
    for (i = 4; i + 4 <= length; i += 4) lanes = f32x4.max(lanes, v128.load(x + ((<usize>i) << 2)));
    best = max4(lanes);
  }
  for (; i < length; i++) best = max(best, load<f32>(x + ((<usize>i) << 2)));
  return best;
}

/** The first `left` lanes and zeros if fewer than four are left of a row, else all lanes. */
export function keepLanes(x: v128, left: i32): v128 {
  if (left >= 4) return x;
  if (left < 3) x = f32x4.replace_lane(x, 2, 0);
  if (left < 2) x = f32x4.replace_lane(x, 1, 0);
  return f32x4.replace_lane(x, 3, 0);
}

/** Softmax of one row; x and y may be the same place. */
export function softmaxRow(x: usize, y: usize, length: i32): void {
  const most = f32x4.splat(largest(x, length));
  const whole = (<usize>(length & ~3)) << 2;
  const left = length & 3;
  let sum = f32x4.splat(0);
  for (let at: usize = 0; at < whole; at += 16) {
    const e = exp4(f32x4.sub(v128.load(x + at), most));
    sum = f32x4.add(sum, e);
    v128.store(y + at, e);
  }
  if (left > 0) {
    const e = exp4(f32x4.sub(loadPart(x + whole, left), most));
    sum = f32x4.add(sum, keepLanes(e, left));
    storePart(y + whole, e, left);
  }
  const inverse = f32x4.splat(1 / sum4(sum));
  for (let at: usize = 0; at < whole; at += 16) v128.store(y + at, f32x4.mul(v128.load(y + at), inverse));
  if (left > 0) storePart(y + whole, f32x4.mul(loadPart(y + whole, left), inverse), left);
}

export function softmax(x: usize, y: usize, rows: i32, columns: i32): void {
  const line = (<usize>columns) << 2;
  for (let row = 0; row < rows; row++) softmaxRow(x + <usize>row * line, y + <usize>row * line, columns);
}
