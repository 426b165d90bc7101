/**
 * Attention on the wasm heap: QK norm, RoPE and the causal product of each segment, with its gradient. The products run
 * per segment and head as 2-D matrices (XNNPACK); everything between them is plain typed-array code. For lists of about
 * 100 tokens this beats one batched product twenty times over, and nothing is padded.
 */
import type { Layout, Segment } from '../layout.ts';
import type { AttentionGeometry } from '../ops.ts';
import type { Place, WasmHeap } from './heap.ts';
import { rotateHeads, rotateHeadsBackward } from './rotate.ts';
import { transposeInto } from './rows.ts';

/** Far below any score; its exp is 0 in float32. */
const MASKED = -1e30;

/** Places of the tensors of one call: q [H, N, d], k and v [KV, N, d], probabilities per segment [H, length, keys]. */
export interface AttentionPlaces {
  qkv: Place;
  queryGain: Place;
  keyGain: Place;
  q: Place;
  k: Place;
  v: Place;
  probabilities: Place;
  /** [N, H d] */
  y: Place;
}

/** A segment with what its products need: number of keys and where its probabilities begin. */
interface Block {
  readonly segment: Segment;
  readonly keys: number;
  readonly probabilities: Place;
}

/** Elements of the probabilities of a whole layout. */
export function countProbabilities(layout: Layout, heads: number): number {
  return layout.segments.reduce((sum, s) => sum + heads * s.length * (s.prefixLength + s.length), 0);
}

export function attentionForward(
  heap: WasmHeap,
  places: AttentionPlaces,
  layout: Layout,
  geometry: AttentionGeometry,
): void {
  rotateHeads(heap, places, layout.positions, geometry);
  for (const block of blocksOf(layout, geometry.heads, places.probabilities)) {
    for (let head = 0; head < geometry.heads; head++)
      attendHead(heap, places, block, head, layout.ids.length, geometry);
  }
}

function* blocksOf(layout: Layout, heads: number, probabilities: Place): Generator<Block> {
  let place = probabilities;
  for (const segment of layout.segments) {
    const keys = segment.prefixLength + segment.length;
    yield { segment, keys, probabilities: place };
    place += heads * segment.length * keys;
  }
}

function attendHead(
  heap: WasmHeap,
  places: AttentionPlaces,
  { segment, keys, probabilities }: Block,
  head: number,
  rows: number,
  { heads, kvHeads, headDim }: AttentionGeometry,
): void {
  const kvHead = Math.floor((head * kvHeads) / heads);
  const { start, length } = segment;
  const work = scratchFor(heap, length, keys, headDim);
  const p = probabilities + head * length * keys;
  collectKeys(heap.floats, places.k + kvHead * rows * headDim, segment, work.keyRows, headDim);
  transposeInto(heap.floats, work.keyRows, work.keyColumns, keys, headDim);
  heap.matmul(places.q + (head * rows + start) * headDim, work.keyColumns, p, length, headDim, keys);
  maskFuture(heap.floats, p, length, keys);
  heap.softmax(p, p, length, keys);
  collectKeys(heap.floats, places.v + kvHead * rows * headDim, segment, work.keyRows, headDim);
  heap.matmul(p, work.keyRows, work.headRows, length, keys, headDim);
  const width = heads * headDim;
  copyRows(heap.floats, work.headRows, headDim, places.y + start * width + head * headDim, width, length, headDim);
}

function scratchFor(heap: WasmHeap, length: number, keys: number, headDim: number) {
  return {
    keyRows: heap.scratch('attention.keyRows', keys * headDim),
    keyColumns: heap.scratch('attention.keyColumns', keys * headDim),
    headRows: heap.scratch('attention.headRows', length * headDim),
  };
}

/** Rows of a head [N, d] that a segment sees, prefix first: out [keys, d]. */
function collectKeys(f: Float32Array, head: Place, segment: Segment, out: Place, headDim: number): void {
  const { start, length, prefixStart, prefixLength } = segment;
  f.copyWithin(out, head + prefixStart * headDim, head + (prefixStart + prefixLength) * headDim);
  f.copyWithin(out + prefixLength * headDim, head + start * headDim, head + (start + length) * headDim);
}

/** Row i of [length, keys] may see the prefix and itself: keys up to keys - length + i. */
function maskFuture(f: Float32Array, scores: Place, length: number, keys: number): void {
  for (let i = 0; i < length; i++) f.fill(MASKED, scores + i * keys + keys - length + i + 1, scores + (i + 1) * keys);
}

/** Copies [rows, width] between matrices of different strides. */
function copyRows(
  f: Float32Array,
  x: Place,
  xStride: number,
  y: Place,
  yStride: number,
  rows: number,
  width: number,
): void {
  for (let row = 0; row < rows; row++) {
    const from = x + row * xStride;
    f.copyWithin(y + row * yStride, from, from + width);
  }
}

export interface AttentionGradients {
  /** [N, H d] */
  dy: Place;
  dQkv: Place;
  /** [d], zero before. */
  dQueryGain: Place;
  /** [d], zero before. */
  dKeyGain: Place;
}

export function attentionBackward(
  heap: WasmHeap,
  places: AttentionPlaces,
  gradients: AttentionGradients,
  layout: Layout,
  geometry: AttentionGeometry,
): void {
  const rows = layout.ids.length;
  const { heads, kvHeads, headDim } = geometry;
  const dq = heap.scratch('attention.dq', heads * rows * headDim);
  const dk = heap.scratch('attention.dk', kvHeads * rows * headDim);
  const dv = heap.scratch('attention.dv', kvHeads * rows * headDim);
  heap.floats.fill(0, dk, dk + kvHeads * rows * headDim);
  heap.floats.fill(0, dv, dv + kvHeads * rows * headDim);
  for (const block of blocksOf(layout, heads, places.probabilities)) {
    for (let head = 0; head < heads; head++) {
      const kvHead = Math.floor((head * kvHeads) / heads);
      const offset = kvHead * rows * headDim;
      const kv = { k: places.k + offset, v: places.v + offset, dk: dk + offset, dv: dv + offset };
      const own = (head * rows + block.segment.start) * headDim;
      attendHeadBackward(heap, places, gradients.dy, block, head, { ...kv, q: places.q + own, dq: dq + own }, geometry);
    }
  }
  rotateHeadsBackward(heap, places, gradients, { dq, dk, dv }, layout.positions, geometry);
}

/** Places of one head: q and dq at the segment's first row, k, v and their gradients at the head's first row. */
interface HeadPlaces {
  q: Place;
  dq: Place;
  k: Place;
  v: Place;
  dk: Place;
  dv: Place;
}

/** With P the probabilities and g = dy: dP = g V', dS = P (dP - g . y), dq = dS K, dK = dS' q, dV = P' g. */
function attendHeadBackward(
  heap: WasmHeap,
  places: AttentionPlaces,
  dy: Place,
  { segment, keys, probabilities }: Block,
  head: number,
  at: HeadPlaces,
  { heads, headDim }: AttentionGeometry,
): void {
  const { start, length } = segment;
  const size = length * keys;
  const work = scratchFor(heap, length, keys, headDim);
  const dScores = heap.scratch('attention.dScores', size);
  const dScoresT = heap.scratch('attention.dScoresT', size);
  const pT = heap.scratch('attention.pT', size);
  const p = probabilities + head * size;
  const column = start * heads * headDim + head * headDim;
  copyRows(heap.floats, dy + column, heads * headDim, work.headRows, headDim, length, headDim);
  collectKeys(heap.floats, at.v, segment, work.keyRows, headDim);
  transposeInto(heap.floats, work.keyRows, work.keyColumns, keys, headDim);
  heap.matmul(work.headRows, work.keyColumns, dScores, length, headDim, keys);
  const rows = { dy: dy + column, y: places.y + column, stride: heads * headDim, headDim };
  softmaxBackward(heap.floats, { p, dScores, dScoresT, pT }, rows, length, keys);
  heap.matmul(pT, work.headRows, work.keyRows, keys, length, headDim);
  addKeys(heap.floats, work.keyRows, segment, at.dv, headDim);
  collectKeys(heap.floats, at.k, segment, work.keyRows, headDim);
  heap.matmul(dScores, work.keyRows, at.dq, length, keys, headDim);
  heap.matmul(dScoresT, at.q, work.keyRows, keys, length, headDim);
  addKeys(heap.floats, work.keyRows, segment, at.dk, headDim);
}

/** dScores from dP to dS in place, and the transposes of dS and P. */
function softmaxBackward(
  f: Float32Array,
  at: { p: Place; dScores: Place; dScoresT: Place; pT: Place },
  rows: { dy: Place; y: Place; stride: number; headDim: number },
  length: number,
  keys: number,
): void {
  f.fill(0, at.dScoresT, at.dScoresT + length * keys);
  f.fill(0, at.pT, at.pT + length * keys);
  for (let i = 0; i < length; i++) {
    const seen = keys - length + i + 1;
    const dot = dotProduct(f, rows.dy + i * rows.stride, rows.y + i * rows.stride, rows.headDim);
    const row = i * keys;
    for (let j = 0, to = i; j < seen; j++, to += length) {
      const p = f[at.p + row + j]!;
      const ds = p * (f[at.dScores + row + j]! - dot);
      f[at.dScores + row + j] = ds;
      f[at.dScoresT + to] = ds;
      f[at.pT + to] = p;
    }
    f.fill(0, at.dScores + row + seen, at.dScores + row + keys);
  }
}

function dotProduct(f: Float32Array, a: Place, b: Place, length: number): number {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += f[a + i]! * f[b + i]!;
  return sum;
}

/** Adds [keys, d], prefix first, to a head's rows. */
function addKeys(f: Float32Array, x: Place, segment: Segment, head: Place, headDim: number): void {
  const { start, length, prefixStart, prefixLength } = segment;
  addInto(f, x, head + prefixStart * headDim, prefixLength * headDim);
  addInto(f, x + prefixLength * headDim, head + start * headDim, length * headDim);
}

function addInto(f: Float32Array, x: Place, y: Place, length: number): void {
  for (let i = 0; i < length; i++) f[y + i] = f[y + i]! + f[x + i]!;
}
