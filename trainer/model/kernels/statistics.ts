/** Log-probability of a target and entropy of softmax(logits / temperature), in nats, and their gradient. */
import { exp4, log } from './exp';
import { fma, give, sum4, take } from './simd';
import { keepLanes, largest } from './softmax';

/**
 * logits [rows, vocab] and targets [rows] to out [2, rows]: log-probabilities, entropies. logSums [rows] is kept for the
 * gradient: the logarithm of the sum of exp(logit / temperature).
 */
export function tokenStatistics(
  logits: usize,
  targets: usize,
  out: usize,
  logSums: usize,
  rows: i32,
  vocab: i32,
  temperature: f32,
): void {
  const scale = f32x4.splat(1 / temperature);
  for (let row = 0; row < rows; row++) {
    const at = (<usize>row) << 2;
    const z = logits + <usize>row * ((<usize>vocab) << 2);
    const most = largest(z, vocab) / temperature;
    const mosts = f32x4.splat(-most);
    let sum = f32x4.splat(0);
    let mean = f32x4.splat(0);
    for (let i = 0; i < vocab; i += 4) {
      const shifted = fma(take(z + ((<usize>i) << 2), vocab - i), scale, mosts);
      const e = keepLanes(exp4(shifted), vocab - i);
      sum = f32x4.add(sum, e);
      mean = fma(e, shifted, mean);
    }
    const total = sum4(sum);
    const logTotal = <f32>log(<f64>total);
    const target = load<f32>(z + ((<usize>load<i32>(targets + at)) << 2)) / temperature;
    store<f32>(out + at, target - most - logTotal);
    store<f32>(out + ((<usize>rows) << 2) + at, logTotal - sum4(mean) / total);
    store<f32>(logSums + at, most + logTotal);
  }
}

/** dLogits = (dLogprob (onehot - p) - dEntropy p (log p + H)) / temperature, with dOut [2, rows]. */
export function tokenStatisticsBackward(
  logits: usize,
  targets: usize,
  out: usize,
  logSums: usize,
  dOut: usize,
  dLogits: usize,
  rows: i32,
  vocab: i32,
  temperature: f32,
): void {
  const scale = f32x4.splat(1 / temperature);
  const second = (<usize>rows) << 2;
  for (let row = 0; row < rows; row++) {
    const at = (<usize>row) << 2;
    const line = <usize>row * ((<usize>vocab) << 2);
    const logSum = f32x4.splat(-load<f32>(logSums + at));
    const dLogprob = load<f32>(dOut + at) / temperature;
    const dEntropy = load<f32>(dOut + second + at) / temperature;
    const slope = f32x4.splat(-dEntropy);
    const offset = f32x4.splat(-dLogprob - dEntropy * load<f32>(out + second + at));
    for (let i = 0; i < vocab; i += 4) {
      const place = line + ((<usize>i) << 2);
      const logP = fma(take(logits + place, vocab - i), scale, logSum);
      give(dLogits + place, f32x4.mul(exp4(logP), fma(slope, logP, offset)), vocab - i);
    }
    const target = dLogits + line + ((<usize>load<i32>(targets + at)) << 2);
    store<f32>(target, load<f32>(target) + dLogprob);
  }
}
