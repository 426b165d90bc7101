/**
 * Log-probability of a target and entropy of its distribution from logits, on the wasm heap. The softmax is the
 * backend's; the log of its sum follows from the largest probability, which is 1 / sum, so no probability's logarithm
 * is taken where it may have become 0.
 */
import type { Place, WasmHeap } from './heap.ts';

export interface StatisticsPlaces {
  /** [rows, V] */
  logits: Place;
  /** Kept for the gradient, [rows, V]. */
  probabilities: Place;
  /** [2, rows]: log-probabilities, entropies. */
  out: Place;
}

export function statisticsForward(
  heap: WasmHeap,
  at: StatisticsPlaces,
  targets: Int32Array,
  vocab: number,
  temperature: number,
): void {
  const rows = targets.length;
  const scaled = temperature === 1 ? at.logits : scaleLogits(heap, at.logits, rows * vocab, temperature);
  heap.softmax(scaled, at.probabilities, rows, vocab);
  const f = heap.floats;
  for (let row = 0; row < rows; row++) {
    const z = scaled + row * vocab;
    const p = at.probabilities + row * vocab;
    let largest = z;
    let mean = 0;
    for (let j = 0; j < vocab; j++) {
      if (f[z + j]! > f[largest]!) largest = z + j;
      mean += f[p + j]! * f[z + j]!;
    }
    const logSum = f[largest]! - Math.log(f[p + largest - z]!);
    f[at.out + row] = f[z + targets[row]!]! - logSum;
    f[at.out + rows + row] = logSum - mean;
  }
}

function scaleLogits(heap: WasmHeap, logits: Place, length: number, temperature: number): Place {
  const scaled = heap.scratch('statistics.scaled', length);
  const f = heap.floats;
  for (let i = 0; i < length; i++) f[scaled + i] = f[logits + i]! / temperature;
  return scaled;
}

/**
 * dlogits = (dlogprob (onehot - p) - dentropy p (log p + H)) / temperature, dy [2, rows] as `out`.
 * log p is taken as logit - logSum = (logit - target's logit) + logprob.
 */
export function statisticsBackward(
  heap: WasmHeap,
  at: StatisticsPlaces & { dy: Place; dLogits: Place },
  targets: Int32Array,
  vocab: number,
  temperature: number,
): void {
  const f = heap.floats;
  const rows = targets.length;
  for (let row = 0; row < rows; row++) {
    const d = at.dLogits + row * vocab;
    const p = at.probabilities + row * vocab;
    const dLogprob = f[at.dy + row]! / temperature;
    const dEntropy = f[at.dy + rows + row]! / temperature;
    for (let j = 0; j < vocab; j++) f[d + j] = -dLogprob * f[p + j]!;
    if (dEntropy !== 0) {
      const z = at.logits + row * vocab;
      const logSum = f[z + targets[row]!]! / temperature - f[at.out + row]!;
      const entropy = f[at.out + rows + row]!;
      for (let j = 0; j < vocab; j++) {
        const logP = f[z + j]! / temperature - logSum;
        f[d + j] = f[d + j]! - dEntropy * f[p + j]! * (logP + entropy);
      }
    }
    f[d + targets[row]!] = f[d + targets[row]!]! + dLogprob;
  }
}
