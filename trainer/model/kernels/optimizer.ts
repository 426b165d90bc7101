/** Updates of weights. */
import { fma, give, take } from './simd';

/**
 * AdamW (Loshchilov, Hutter 2019) without decay: m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2,
 * next = w - rate m / (sqrt(v correction) + epsilon), with g = scale * gradient. m and v in place.
 */
export function adamw(
  w: usize,
  gradient: usize,
  m: usize,
  v: usize,
  next: usize,
  length: i32,
  scale: f32,
  beta1: f32,
  beta2: f32,
  rate: f32,
  correction: f32,
  epsilon: f32,
): void {
  const keepM = f32x4.splat(beta1);
  const keepV = f32x4.splat(beta2);
  const newM = f32x4.splat(1 - beta1);
  const newV = f32x4.splat(1 - beta2);
  for (let i = 0; i < length; i += 4) {
    const at = (<usize>i) << 2;
    const left = length - i;
    const g = f32x4.mul(take(gradient + at, left), f32x4.splat(scale));
    const mean = fma(take(m + at, left), keepM, f32x4.mul(g, newM));
    const square = fma(take(v + at, left), keepV, f32x4.mul(f32x4.mul(g, g), newV));
    give(m + at, mean, left);
    give(v + at, square, left);
    const root = f32x4.add(f32x4.sqrt(f32x4.mul(square, f32x4.splat(correction))), f32x4.splat(epsilon));
    const change = f32x4.div(f32x4.mul(mean, f32x4.splat(rate)), root);
    give(next + at, f32x4.sub(take(w + at, left), change), left);
  }
}
