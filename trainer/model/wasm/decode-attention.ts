/**
 * Attention of one new token per row over the keys and values of its prompt and of its own earlier tokens, in plain
 * typed-array code: a product with one row has nothing to gain from packing. Completions of a prompt read the same cache
 * of it. Values are kept transposed, so that both products are dot products over contiguous memory.
 */
import type { AttentionGeometry } from '../ops.ts';
import type { DecoderLayer } from './decoder.ts';
import type { Place, WasmHeap } from './heap.ts';
import { createRotation, rotateHead } from './rotate.ts';

/** Keys [slots, KV, capacity, d] and values [slots, KV, d, capacity] of one layer. */
export interface Cache {
  readonly keys: Place;
  readonly values: Place;
  readonly capacity: number;
}

/** A row that is being written: where its prompt and its own tokens are cached. */
export interface DecodeRow {
  readonly promptSlot: number;
  readonly promptLength: number;
  readonly slot: number;
  /** Own tokens before this one. */
  ownLength: number;
}

const MASKED = -1e30;

/** Appends the new token of each row to its cache and attends: [n, (H + 2 KV) d] to [n, H d] in scratch memory. */
export function attendRows(
  heap: WasmHeap,
  geometry: AttentionGeometry,
  layer: DecoderLayer,
  qkv: Place,
  rows: readonly DecodeRow[],
  caches: { prompt: Cache; own: Cache },
): Place {
  const { heads, headDim } = geometry;
  const queries = heap.scratch('decode.queries', rows.length * heads * headDim);
  const columns = rows.reduce((most, row) => Math.max(most, row.promptLength + row.ownLength + 1), 0);
  const scores = heap.scratch('decode.scores', rows.length * heads * columns);
  const mixed = heap.scratch('decode.mixed', rows.length * heads * headDim);
  rotateRows(heap, geometry, layer, qkv, rows, queries, caches.own);
  rows.forEach((row, r) => {
    const query = queries + r * heads * headDim;
    scoreRow(heap.floats, geometry, query, row, caches, scores + r * heads * columns, columns);
  });
  heap.softmax(scores, scores, rows.length * heads, columns);
  rows.forEach((row, r) => {
    mixRow(heap.floats, geometry, scores + r * heads * columns, columns, row, caches, mixed + r * heads * headDim);
  });
  return mixed;
}

/** Queries rotated to [n, H, d]; keys rotated and values turned into the row's own cache. */
function rotateRows(
  heap: WasmHeap,
  geometry: AttentionGeometry,
  layer: DecoderLayer,
  qkv: Place,
  rows: readonly DecodeRow[],
  queries: Place,
  own: Cache,
): void {
  const { heads, kvHeads, headDim } = geometry;
  const positions = Int32Array.from(rows, (row) => row.promptLength + row.ownLength);
  const rotation = createRotation(positions, geometry);
  const f = heap.floats;
  const scale = 1 / Math.sqrt(headDim);
  rows.forEach((row, r) => {
    const table = positions[r]! * rotation.half;
    let x = qkv + r * (heads + 2 * kvHeads) * headDim;
    for (let h = 0; h < heads; h++, x += headDim) {
      rotateHead(f, x, layer.queryNorm, queries + (r * heads + h) * headDim, table, scale, rotation);
    }
    for (let h = 0; h < kvHeads; h++, x += headDim) {
      const to = own.keys + ((row.slot * kvHeads + h) * own.capacity + row.ownLength) * headDim;
      rotateHead(f, x, layer.keyNorm, to, table, 1, rotation);
    }
    for (let h = 0; h < kvHeads; h++, x += headDim) {
      const to = own.values + (row.slot * kvHeads + h) * headDim * own.capacity + row.ownLength;
      for (let i = 0; i < headDim; i++) f[to + i * own.capacity] = f[x + i]!;
    }
  });
}

/** Scores of one row, [H, columns], prompt first; what is past the row's keys is masked. */
function scoreRow(
  f: Float32Array,
  { heads, kvHeads, headDim }: AttentionGeometry,
  queries: Place,
  row: DecodeRow,
  { prompt, own }: { prompt: Cache; own: Cache },
  scores: Place,
  columns: number,
): void {
  for (let h = 0; h < heads; h++) {
    const kv = Math.floor((h * kvHeads) / heads);
    const query = queries + h * headDim;
    const out = scores + h * columns;
    const promptKeys = prompt.keys + (row.promptSlot * kvHeads + kv) * prompt.capacity * headDim;
    const ownKeys = own.keys + (row.slot * kvHeads + kv) * own.capacity * headDim;
    for (let j = 0; j < row.promptLength; j++) f[out + j] = dot(f, query, promptKeys + j * headDim, headDim);
    const keys = row.promptLength + row.ownLength + 1;
    for (let j = row.promptLength, at = ownKeys; j < keys; j++, at += headDim) f[out + j] = dot(f, query, at, headDim);
    f.fill(MASKED, out + keys, out + columns);
  }
}

/** Weighted values of one row: [H, columns] to [H, d]. */
function mixRow(
  f: Float32Array,
  { heads, kvHeads, headDim }: AttentionGeometry,
  weights: Place,
  columns: number,
  row: DecodeRow,
  { prompt, own }: { prompt: Cache; own: Cache },
  out: Place,
): void {
  for (let h = 0; h < heads; h++) {
    const kv = Math.floor((h * kvHeads) / heads);
    const promptWeights = weights + h * columns;
    const ownWeights = promptWeights + row.promptLength;
    const promptValues = prompt.values + (row.promptSlot * kvHeads + kv) * headDim * prompt.capacity;
    const ownValues = own.values + (row.slot * kvHeads + kv) * headDim * own.capacity;
    for (let i = 0; i < headDim; i++) {
      f[out + h * headDim + i] =
        dot(f, promptWeights, promptValues + i * prompt.capacity, row.promptLength) +
        dot(f, ownWeights, ownValues + i * own.capacity, row.ownLength + 1);
    }
  }
}

function dot(f: Float32Array, a: Place, b: Place, length: number): number {
  const whole = length & ~3;
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  for (let i = 0; i < whole; i += 4) {
    s0 += f[a + i]! * f[b + i]!;
    s1 += f[a + i + 1]! * f[b + i + 1]!;
    s2 += f[a + i + 2]! * f[b + i + 2]!;
    s3 += f[a + i + 3]! * f[b + i + 3]!;
  }
  for (let i = whole; i < length; i++) s0 += f[a + i]! * f[b + i]!;
  return s0 + s1 + (s2 + s3);
}
