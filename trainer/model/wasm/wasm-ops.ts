/** The decoder's operators on the memory of the wasm backend: fused, with gradients by hand. */
import * as tf from '@tensorflow/tfjs-core';
import type { Layout } from '../layout.ts';
import { withGradient } from '../ops.ts';
import type { AttentionGeometry, Ops } from '../ops.ts';
import { attentionBackward, attentionForward, countProbabilities } from './attention.ts';
import type { AttentionPlaces } from './attention.ts';
import type { WasmHeap } from './heap.ts';
import { rmsNormBackward, rmsNormInto } from './norm.ts';
import { gatherInto, scatterAddInto, transposeInto } from './rows.ts';
import { swigluBackward, swigluForward } from './swiglu.ts';
import { statisticsBackward, statisticsForward } from './token-statistics.ts';

export function createWasmOps(heap: WasmHeap): Ops {
  const transpose = (x: tf.Tensor2D): tf.Tensor2D => {
    const [rows, columns] = x.shape;
    const out = heap.createTensor<tf.Rank.R2>([columns, rows]);
    transposeInto(heap.floats, heap.placeOf(x), heap.placeOf(out), rows, columns);
    return out;
  };
  return {
    gatherRows: (table, rows) => gatherRows(heap, table, rows),
    linear: (x, w) => linear(x, w, transpose),
    linearTransposed: (x, w) => linearTransposed(x, w, transpose),
    rmsNorm: (x, gain, epsilon) => rmsNorm(heap, x, gain, epsilon),
    attention: (qkv, queryGain, keyGain, layout, geometry) =>
      attention(heap, { qkv, queryGain, keyGain }, layout, geometry),
    swiglu: (gateUp) => swiglu(heap, gateUp),
    tokenStatistics: (logits, targets, temperature) => tokenStatistics(heap, logits, targets, temperature),
    transpose,
  };
}

/** A new tensor of zeros; places are asked for after all allocations. */
function createZeros<R extends tf.Rank>(heap: WasmHeap, shape: tf.ShapeMap[R]): tf.Tensor<R> {
  const tensor = heap.createTensor<R>(shape);
  const place = heap.placeOf(tensor);
  heap.floats.fill(0, place, place + tensor.size);
  return tensor;
}

function gatherRows(heap: WasmHeap, table: tf.Tensor2D, rows: Int32Array): tf.Tensor2D {
  const [count, width] = table.shape;
  return withGradient<tf.Tensor2D>(
    [table],
    () => {
      const value = heap.createTensor<tf.Rank.R2>([rows.length, width]);
      gatherInto(heap.floats, heap.placeOf(table), rows, heap.placeOf(value), width);
      return { value, saved: [] };
    },
    (dy) => {
      const dTable = createZeros<tf.Rank.R2>(heap, [count, width]);
      scatterAddInto(heap.floats, heap.placeOf(dy), rows, heap.placeOf(dTable), width);
      return [dTable];
    },
  );
}

type Transpose = (x: tf.Tensor2D) => tf.Tensor2D;

/**
 * x w, with the transposes of its gradient made explicit so that every product runs on XNNPACK. Of the two operands of
 * dw the right one is packed (3 ns an element), so the narrower goes there.
 */
function linear(x: tf.Tensor2D, w: tf.Tensor2D, transpose: Transpose): tf.Tensor2D {
  return withGradient<tf.Tensor2D>(
    [x, w],
    () => ({ value: tf.matMul(x, w), saved: [x, w] }),
    (dy, saved) => {
      const [input, weight] = saved as [tf.Tensor2D, tf.Tensor2D];
      const [inputs, outputs] = weight.shape;
      const dw = outputs > inputs ? transpose(tf.matMul(transpose(dy), input)) : tf.matMul(transpose(input), dy);
      return [tf.matMul(dy, transpose(weight)), dw];
    },
  );
}

function linearTransposed(x: tf.Tensor2D, w: tf.Tensor2D, transpose: Transpose): tf.Tensor2D {
  return withGradient<tf.Tensor2D>(
    [x, w],
    () => ({ value: tf.matMul(x, transpose(w)), saved: [x, w] }),
    (dy, saved) => {
      const [input, weight] = saved as [tf.Tensor2D, tf.Tensor2D];
      return [tf.matMul(dy, weight), tf.matMul(transpose(dy), input)];
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
      const [xAt, gainAt, y, inverseAt] = [x, gain, value, inverse].map((t) => heap.placeOf(t)) as Places4;
      rmsNormInto(heap.floats, { x: xAt, gain: gainAt, y, inverse: inverseAt }, rows, width, epsilon);
      return { value, saved: [x, gain, inverse] };
    },
    (dy, saved) => {
      const dx = heap.createTensor<tf.Rank.R2>([rows, width]);
      const dGain = createZeros<tf.Rank.R1>(heap, [width]);
      const [xAt, gainAt, inverse] = saved.map((t) => heap.placeOf(t)) as Places3;
      const gradients = { dy: heap.placeOf(dy), dx: heap.placeOf(dx), dGain: heap.placeOf(dGain) };
      rmsNormBackward(heap.floats, { x: xAt, gain: gainAt, inverse, ...gradients }, rows, width);
      return [dx, dGain];
    },
  );
}

type Places3 = [number, number, number];
type Places4 = [number, number, number, number];

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
      attentionForward(heap, attentionPlaces(heap, saved), layout, geometry);
      return { value, saved };
    },
    (dy, saved) => {
      const dQkv = heap.createTensor<tf.Rank.R2>([rows, qkv.shape[1]]);
      const dQueryGain = createZeros<tf.Rank.R1>(heap, [headDim]);
      const dKeyGain = createZeros<tf.Rank.R1>(heap, [headDim]);
      const gradients = {
        dy: heap.placeOf(dy),
        dQkv: heap.placeOf(dQkv),
        dQueryGain: heap.placeOf(dQueryGain),
        dKeyGain: heap.placeOf(dKeyGain),
      };
      attentionBackward(heap, attentionPlaces(heap, saved), gradients, layout, geometry);
      return [dQkv, dQueryGain, dKeyGain];
    },
  );
}

function attentionPlaces(heap: WasmHeap, tensors: readonly tf.Tensor[]): AttentionPlaces {
  const [qkv, queryGain, keyGain, q, k, v, probabilities, y] = tensors.map((t) => heap.placeOf(t));
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
      const sigmoids = heap.createTensor<tf.Rank.R2>([rows, width]);
      const [x, sigmoidsAt, y] = [gateUp, sigmoids, value].map((t) => heap.placeOf(t)) as Places3;
      swigluForward(heap, { x, sigmoids: sigmoidsAt, y }, rows, width);
      return { value, saved: [gateUp, sigmoids] };
    },
    (dy, saved) => {
      const dx = heap.createTensor<tf.Rank.R2>([rows, 2 * width]);
      const [x, sigmoids] = saved.map((t) => heap.placeOf(t)) as [number, number];
      swigluBackward(heap, { x, sigmoids, dy: heap.placeOf(dy), dx: heap.placeOf(dx) }, rows, width);
      return [dx];
    },
  );
}

function tokenStatistics(heap: WasmHeap, logits: tf.Tensor2D, targets: Int32Array, temperature: number): tf.Tensor2D {
  const [rows, vocab] = logits.shape;
  return withGradient<tf.Tensor2D>(
    [logits],
    () => {
      const probabilities = heap.createTensor<tf.Rank.R2>([rows, vocab]);
      const value = heap.createTensor<tf.Rank.R2>([2, rows]);
      const [logitsAt, probabilitiesAt, out] = [logits, probabilities, value].map((t) => heap.placeOf(t)) as Places3;
      statisticsForward(heap, { logits: logitsAt, probabilities: probabilitiesAt, out }, targets, vocab, temperature);
      return { value, saved: [logits, probabilities, value] };
    },
    (dy, saved) => {
      const dLogits = heap.createTensor<tf.Rank.R2>([rows, vocab]);
      const [logitsAt, probabilities, out] = saved.map((t) => heap.placeOf(t)) as Places3;
      const places = { logits: logitsAt, probabilities, out, dy: heap.placeOf(dy), dLogits: heap.placeOf(dLogits) };
      statisticsBackward(heap, places, targets, vocab, temperature);
      return [dLogits];
    },
  );
}
