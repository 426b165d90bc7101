/**
 * The operators the decoder is written in. There are three sets of them with the same results: plain tfjs ops with tfjs's
 * gradients (plain-ops.ts; the reference, and what cpu runs), few large tfjs ops (batched-ops.ts; TensorFlow and WebGPU),
 * and kernels on the memory of the wasm backend (wasm/); the last two have gradients by hand.
 *
 * Letters in shapes: N rows, K predicted tokens, D hidden, F intermediate, V vocabulary, H heads, d head size.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { Layout } from './layout.ts';

/** What attention needs to know of the configuration. */
export interface AttentionGeometry {
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly ropeTheta: number;
  readonly normEpsilon: number;
}

export interface Ops {
  /** Rows of a table: [R, D] and n indices to [n, D]. Both the embedding and the choice of rows to predict from. */
  gatherRows(table: tf.Tensor2D, rows: Int32Array): tf.Tensor2D;
  /** x [N, in] times w [in, out]. */
  linear(x: tf.Tensor2D, w: tf.Tensor2D): tf.Tensor2D;
  /** x [N, D] times the transpose of w [V, D]: the output layer tied to the embedding. */
  linearTransposed(x: tf.Tensor2D, w: tf.Tensor2D): tf.Tensor2D;
  /** x / sqrt(mean(x^2) + epsilon) * gain over the last axis (Zhang, Sennrich 2019). */
  rmsNorm(x: tf.Tensor2D, gain: tf.Tensor1D, epsilon: number): tf.Tensor2D;
  /**
   * Causal attention of each segment over its prefix and itself: qkv [N, (H + 2 KV) d] to [N, H d]. Query and key heads
   * are RMS-normalised with their gains [d] (QK norm, Henry et al. 2020), then rotated (RoPE, Su et al. 2021, halves
   * paired as in transformers); scores are scaled by 1/sqrt(d). Query head h reads key head floor(h KV / H).
   */
  attention(
    qkv: tf.Tensor2D,
    queryGain: tf.Tensor1D,
    keyGain: tf.Tensor1D,
    layout: Layout,
    geometry: AttentionGeometry,
  ): tf.Tensor2D;
  /** silu(gate) * up for x = [gate | up]: [N, 2 F] to [N, F] (Shazeer 2020). */
  swiglu(gateUp: tf.Tensor2D): tf.Tensor2D;
  /**
   * Log-probability of the target and entropy of the distribution softmax(logits / temperature), both nats:
   * [K, V] to [2, K]. Row 0 log-probabilities, row 1 entropies.
   */
  tokenStatistics(logits: tf.Tensor2D, targets: Int32Array, temperature: number): tf.Tensor2D;
  /** a b, each of them transposed first if asked; no gradient. */
  matmul(a: tf.Tensor2D, b: tf.Tensor2D, transposeA: boolean, transposeB: boolean): tf.Tensor2D;
  /**
   * The weight after a step of AdamW (Loshchilov, Hutter 2019) without decay, as a new tensor; `state` is updated. With
   * g = scale * gradient: m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; w - rate m / (sqrt(v correction) + epsilon).
   */
  adamw(weight: tf.Tensor, gradient: tf.Tensor, state: AdamwState, rates: AdamwRates): tf.Tensor;
}

/** Variables of the shape of the weight. */
export interface AdamwState {
  readonly mean: tf.Variable;
  readonly square: tf.Variable;
}

export interface AdamwRates {
  /** Of the gradient, from clipping. */
  readonly scale: number;
  readonly beta1: number;
  readonly beta2: number;
  /** Step size, divided by 1 - beta1^t. */
  readonly rate: number;
  /** 1 / (1 - beta2^t) */
  readonly correction: number;
  readonly epsilon: number;
}

/** Cosines and sines of RoPE for positions [0, length), each [length, d/2]; angle = position * theta^(-2 i / d). */
export function createRopeTable(
  length: number,
  headDim: number,
  theta: number,
): { cos: Float32Array; sin: Float32Array } {
  const half = headDim / 2;
  const cos = new Float32Array(length * half);
  const sin = new Float32Array(length * half);
  for (let p = 0; p < length; p++) {
    for (let i = 0; i < half; i++) {
      const angle = p * theta ** ((-2 * i) / headDim);
      cos[p * half + i] = Math.cos(angle);
      sin[p * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}

/**
 * An operator with its own gradient: `forward` gives the value and what `backward` needs; `backward` gives one gradient
 * for each input. A thin, typed skin over tf.customGrad, whose own types lose the inputs.
 */
export function withGradient<T extends tf.Tensor>(
  inputs: readonly tf.Tensor[],
  forward: () => { value: T; saved: readonly tf.Tensor[] },
  backward: (dy: T, saved: readonly tf.Tensor[]) => tf.Tensor[],
): T {
  const operator = tf.customGrad<T>((...args) => {
    const save = args.at(-1) as tf.GradSaveFunc;
    const { value, saved } = forward();
    save([...saved]);
    return { value, gradFunc: (dy, kept) => backward(dy, kept) };
  });
  return operator(...inputs);
}
