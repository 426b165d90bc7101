/** RMSNorm over rows, forward and backward, in plain typed-array code. `f` is the heap. */
import type { Place } from './heap.ts';

/** 1 / sqrt(mean(x^2) + epsilon) of `width` elements at x. */
export function inverseRms(f: Float32Array, x: Place, width: number, epsilon: number): number {
  let sum = 0;
  for (let i = x; i < x + width; i++) sum += f[i]! * f[i]!;
  return 1 / Math.sqrt(sum / width + epsilon);
}

/** y = x * inverse[row] * gain; inverse [rows] is kept for the gradient. */
export function rmsNormInto(
  f: Float32Array,
  places: { x: Place; gain: Place; y: Place; inverse: Place },
  rows: number,
  width: number,
  epsilon: number,
): void {
  const { gain } = places;
  for (let row = 0; row < rows; row++) {
    const x = places.x + row * width;
    const y = places.y + row * width;
    const r = inverseRms(f, x, width, epsilon);
    f[places.inverse + row] = r;
    for (let i = 0; i < width; i++) f[y + i] = f[x + i]! * r * f[gain + i]!;
  }
}

/**
 * With n = x * inverse and e = dy * gain: dx = inverse * (e - n * mean(e * n)), dgain = sum over rows of dy * n.
 * dgain must be zero before.
 */
export function rmsNormBackward(
  f: Float32Array,
  places: { x: Place; gain: Place; inverse: Place; dy: Place; dx: Place; dGain: Place },
  rows: number,
  width: number,
): void {
  const { gain, dGain } = places;
  for (let row = 0; row < rows; row++) {
    const x = places.x + row * width;
    const dy = places.dy + row * width;
    const dx = places.dx + row * width;
    const r = f[places.inverse + row]!;
    let sum = 0;
    for (let i = 0; i < width; i++) {
      const dyn = f[dy + i]! * f[x + i]! * r;
      f[dGain + i] = f[dGain + i]! + dyn;
      sum += dyn * f[gain + i]!;
    }
    const mean = (sum / width) * r;
    for (let i = 0; i < width; i++) f[dx + i] = r * (f[dy + i]! * f[gain + i]! - f[x + i]! * mean);
  }
}
