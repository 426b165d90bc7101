/** RMSNorm over rows (Zhang, Sennrich 2019), forward and backward. */
import { dot, fma, give, sum4, take } from './simd';

/** 1 / sqrt(mean(x^2) + epsilon) of a row. */
export function inverseRms(x: usize, width: i32, epsilon: f32): f32 {
  return 1 / sqrt<f32>(dot(x, x, width) / <f32>width + epsilon);
}

/** y = x * inverse * gain for each row; inverse [rows] is kept for the gradient. */
export function rmsNorm(x: usize, gain: usize, y: usize, inverse: usize, rows: i32, width: i32, epsilon: f32): void {
  for (let row = 0; row < rows; row++) {
    const r = inverseRms(x, width, epsilon);
    store<f32>(inverse + ((<usize>row) << 2), r);
    const rs = f32x4.splat(r);
    for (let i = 0; i < width; i += 4) {
      const at = (<usize>i) << 2;
      const left = width - i;
      give(y + at, f32x4.mul(f32x4.mul(take(x + at, left), rs), take(gain + at, left)), left);
    }
    x += (<usize>width) << 2;
    y += (<usize>width) << 2;
  }
}

/**
 * Gradient of one row with r its inverse RMS, n = x r and e = dy * gain: dx = r (e - n mean(e n)), and dGain += dy n.
 */
export function rmsNormRowBackward(
  x: usize,
  gain: usize,
  r: f32,
  dy: usize,
  dx: usize,
  dGain: usize,
  width: i32,
): void {
  const rs = f32x4.splat(r);
  let sum = f32x4.splat(0);
  for (let i = 0; i < width; i += 4) {
    const at = (<usize>i) << 2;
    const left = width - i;
    const dyn = f32x4.mul(f32x4.mul(take(dy + at, left), take(x + at, left)), rs);
    give(dGain + at, f32x4.add(take(dGain + at, left), dyn), left);
    sum = fma(dyn, take(gain + at, left), sum);
  }
  const mean = f32x4.splat((sum4(sum) / <f32>width) * r);
  for (let i = 0; i < width; i += 4) {
    const at = (<usize>i) << 2;
    const left = width - i;
    const e = f32x4.mul(take(dy + at, left), take(gain + at, left));
    give(dx + at, f32x4.mul(rs, f32x4.sub(e, f32x4.mul(take(x + at, left), mean))), left);
  }
}

/** dx [rows, width] and dGain [width]. */
export function rmsNormBackward(
  x: usize,
  gain: usize,
  inverse: usize,
  dy: usize,
  dx: usize,
  dGain: usize,
  rows: i32,
  width: i32,
): void {
  const line = (<usize>width) << 2;
  memory.fill(dGain, 0, line);
  for (let row = 0; row < rows; row++) {
    rmsNormRowBackward(x, gain, load<f32>(inverse + ((<usize>row) << 2)), dy, dx, dGain, width);
    x += line;
    dy += line;
    dx += line;
  }
}
