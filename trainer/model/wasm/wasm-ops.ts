/** The decoder's operators on the memory of the wasm backend: own kernels, with gradients by hand. */
import * as tf from '@tensorflow/tfjs-core';
import type { Layout } from '../layout.ts';
import { withGradient } from '../ops.ts';
import type { AdamwRates, AdamwState, AttentionGeometry, Ops } from '../ops.ts';
import { attentionBackward, attentionForward, countProbabilities } from './attention.ts';
import type { AttentionPointers } from './attention.ts';
import type { WasmHeap } from './heap.ts';
import type { Pointer } from './kernels.ts';

export function createWasmOps(heap: WasmHeap): Ops {
  return {
    gatherRows: (table, rows) => gatherRows(heap, table, rows),
    linear: (x, w) => linear(heap, x, w, false),
    linearTransposed: (x, w) => linear(heap, x, w, true),
    matmul: (a, b, transposeA, transposeB) => multiply(heap, a, b, transposeA, transposeB),
    rmsNorm: (x, gain, epsilon) => rmsNorm(heap, x, gain, epsilon),
    attention: (qkv, queryGain, keyGain, layout, geometry) =>
      attention(heap, { qkv, queryGain, keyGain }, layout, geometry),
    swiglu: (gateUp) => swiglu(heap, gateUp),
    tokenStatistics: (logits, targets, temperature) => tokenStatistics(heap, logits, targets, temperature),
    adamw: (weight, gradient, state, rates) => adamw(heap, weight, gradient, state, rates),
  };
}

/** Where tensors lie; to be asked for after all allocations. */
const pointersOf = <T extends readonly tf.Tensor[]>(heap: WasmHeap, ...tensors: T): { [K in keyof T]: Pointer } =>
  tensors.map((tensor) => heap.pointerOf(tensor)) as { [K in keyof T]: Pointer };

function gatherRows(heap: WasmHeap, table: tf.Tensor2D, rows: Int32Array): tf.Tensor2D {
  const [count, width] = table.shape;
  return withGradient<tf.Tensor2D>(
    [table],
    () => {
      const value = heap.createTensor<tf.Rank.R2>([rows.length, width]);
      const numbers = heap.integers('rows', rows);
      heap.kernels.gatherRows(heap.pointerOf(table), numbers, heap.pointerOf(value), rows.length, width);
      return { value, saved: [] };
    },
    (dy) => {
      const dTable = heap.createTensor<tf.Rank.R2>([count, width]);
      const numbers = heap.integers('rows', rows);
      const place = heap.placeOf(dTable);
      heap.floats.fill(0, place, place + dTable.size);
      heap.kernels.scatterAdd(heap.pointerOf(dy), numbers, heap.pointerOf(dTable), rows.length, width);
      return [dTable];
    },
  );
}

/** a b, each of them transposed first if asked; no gradient. */
function multiply(
  heap: WasmHeap,
  a: tf.Tensor2D,
  b: tf.Tensor2D,
  transposeA: boolean,
  transposeB: boolean,
): tf.Tensor2D {
  const view = (x: tf.Tensor2D, isTransposed: boolean) => {
    const [rows, columns] = isTransposed ? [x.shape[1], x.shape[0]] : x.shape;
    return { place: heap.placeOf(x), rows, columns, isTransposed };
  };
  const shape: [number, number] = [a.shape[transposeA ? 1 : 0], b.shape[transposeB ? 0 : 1]];
  const out = heap.createTensor<tf.Rank.R2>(shape);
  heap.matmul(view(a, transposeA), view(b, transposeB), heap.placeOf(out));
  return out;
}

/** x w for w [in, out], or x times the transpose of w [out, in]. */
function linear(heap: WasmHeap, x: tf.Tensor2D, w: tf.Tensor2D, isTransposed: boolean): tf.Tensor2D {
  return withGradient<tf.Tensor2D>(
    [x, w],
    () => ({ value: multiply(heap, x, w, false, isTransposed), saved: [x, w] }),
    (dy, saved) => {
      const [input, weight] = saved as [tf.Tensor2D, tf.Tensor2D];
      const dw = isTransposed ? multiply(heap, dy, input, true, false) : multiply(heap, input, dy, true, false);
      return [multiply(heap, dy, weight, false, !isTransposed), dw];
    },
  );
}

function rmsNorm(heap: WasmHeap, x: tf.Tensor2D, gain: tf.Tensor1D, epsilon: number): tf.Tensor2D {
  const [rows, width] = x.shape;
  return withGradient<tf.Tensor2D>(
    [x, gain],
    () => {
      const value = heap.createTensor<tf.Rank.R2>([rows, width]);
      const inverse = heap.createTensor<tf.Rank.R1>([rows]);
      heap.kernels.rmsNorm(...pointersOf(heap, x, gain, value, inverse), rows, width, epsilon);
      return { value, saved: [x, gain, inverse] };
    },
    (dy, saved) => {
      const dx = heap.createTensor<tf.Rank.R2>([rows, width]);
      const dGain = heap.createTensor<tf.Rank.R1>([width]);
      heap.kernels.rmsNormBackward(...pointersOf(heap, ...saved, dy, dx, dGain), rows, width);
      return [dx, dGain];
    },
  );
}

function attention(
  heap: WasmHeap,
  inputs: { qkv: tf.Tensor2D; queryGain: tf.Tensor1D; keyGain: tf.Tensor1D },
  layout: Layout,
  geometry: AttentionGeometry,
): tf.Tensor2D {
  const { qkv, queryGain, keyGain } = inputs;
  const { heads, kvHeads, headDim } = geometry;
  const rows = qkv.shape[0];
  return withGradient<tf.Tensor2D>(
    [qkv, queryGain, keyGain],
    () => {
      const q = heap.createTensor<tf.Rank.R3>([heads, rows, headDim]);
      const k = heap.createTensor<tf.Rank.R3>([kvHeads, rows, headDim]);
      const v = heap.createTensor<tf.Rank.R3>([kvHeads, rows, headDim]);
      const probabilities = heap.createTensor<tf.Rank.R1>([countProbabilities(layout, heads)]);
      const value = heap.createTensor<tf.Rank.R2>([rows, heads * headDim]);
      const saved = [qkv, queryGain, keyGain, q, k, v, probabilities, value];
      attentionForward(heap, attentionPointers(heap, saved), layout, geometry);
      return { value, saved };
    },
    (dy, saved) => {
      const dQkv = heap.createTensor<tf.Rank.R2>([rows, qkv.shape[1]]);
      const dQueryGain = heap.createTensor<tf.Rank.R1>([headDim]);
      const dKeyGain = heap.createTensor<tf.Rank.R1>([headDim]);
      const gradients = {
        dy: heap.pointerOf(dy),
        dQkv: heap.pointerOf(dQkv),
        dQueryGain: heap.pointerOf(dQueryGain),
        dKeyGain: heap.pointerOf(dKeyGain),
      };
      attentionBackward(heap, attentionPointers(heap, saved), gradients, layout, geometry);
      return [dQkv, dQueryGain, dKeyGain];
    },
  );
}

function attentionPointers(heap: WasmHeap, tensors: readonly tf.Tensor[]): AttentionPointers {
  const [qkv, queryGain, keyGain, q, k, v, probabilities, y] = tensors.map((tensor) => heap.pointerOf(tensor));
  return {
    qkv: qkv!,
    queryGain: queryGain!,
    keyGain: keyGain!,
    q: q!,
    k: k!,
    v: v!,
    probabilities: probabilities!,
    y: y!,
  };
}

function swiglu(heap: WasmHeap, gateUp: tf.Tensor2D): tf.Tensor2D {
  const rows = gateUp.shape[0];
  const width = gateUp.shape[1] / 2;
  return withGradient<tf.Tensor2D>(
    [gateUp],
    () => {
      const value = heap.createTensor<tf.Rank.R2>([rows, width]);
      heap.kernels.swiglu(...pointersOf(heap, gateUp, value), rows, width);
      return { value, saved: [gateUp] };
    },
    (dy, saved) => {
      const dx = heap.createTensor<tf.Rank.R2>([rows, 2 * width]);
      heap.kernels.swigluBackward(...pointersOf(heap, ...saved, dy, dx), rows, width);
      return [dx];
    },
  );
}

function tokenStatistics(heap: WasmHeap, logits: tf.Tensor2D, targets: Int32Array, temperature: number): tf.Tensor2D {
  const [rows, vocab] = logits.shape;
  const { kernels } = heap;
  return withGradient<tf.Tensor2D>(
    [logits],
    () => {
      const value = heap.createTensor<tf.Rank.R2>([2, rows]);
      const logSums = heap.createTensor<tf.Rank.R1>([rows]);
      const ids = heap.integers('targets', targets);
      const [x, out, sums] = pointersOf(heap, logits, value, logSums);
      kernels.tokenStatistics(x, ids, out, sums, rows, vocab, temperature);
      return { value, saved: [logits, value, logSums] };
    },
    (dy, saved) => {
      const dLogits = heap.createTensor<tf.Rank.R2>([rows, vocab]);
      const ids = heap.integers('targets', targets);
      const [x, out, sums, dOut, dx] = saved.concat(dy, dLogits).map((tensor) => heap.pointerOf(tensor));
      kernels.tokenStatisticsBackward(x!, ids, out!, sums!, dOut!, dx!, rows, vocab, temperature);
      return [dLogits];
    },
  );
}

function adamw(
  heap: WasmHeap,
  weight: tf.Tensor,
  gradient: tf.Tensor,
  { mean, square }: AdamwState,
  rates: AdamwRates,
): tf.Tensor {
  const next = heap.createTensor(weight.shape);
  const { scale, beta1, beta2, rate, correction, epsilon } = rates;
  const places = pointersOf(heap, weight, gradient, mean, square, next);
  heap.kernels.adamw(...places, next.size, scale, beta1, beta2, rate, correction, epsilon);
  return next;
}
