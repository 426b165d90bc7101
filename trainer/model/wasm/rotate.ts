/**
 * From a row of [query | key | value] heads to the operands of attention and back: RMS-normalise each query and key head
 * (QK norm), rotate it by the row's position (RoPE), put it head by head. Queries also take the score scale 1/sqrt(d).
 */
import { createRopeTable } from '../ops.ts';
import type { AttentionGeometry } from '../ops.ts';
import type { AttentionGradients, AttentionPlaces } from './attention.ts';
import type { Place, WasmHeap } from './heap.ts';
import { inverseRms } from './norm.ts';

const tables = new Map<string, { cos: Float32Array; sin: Float32Array; length: number }>();

/** RoPE tables that reach at least `length` positions, kept per head size and theta. */
function ropeTable(length: number, headDim: number, theta: number): { cos: Float32Array; sin: Float32Array } {
  const key = `${headDim}/${theta}`;
  let table = tables.get(key);
  if (!table || table.length < length) {
    const rounded = Math.ceil(length / 256) * 256;
    table = { ...createRopeTable(rounded, headDim, theta), length: rounded };
    tables.set(key, table);
  }
  return table;
}

/** What rotating a head takes: tables, half the head size, RMSNorm's epsilon. */
export interface Rotation {
  readonly cos: Float32Array;
  readonly sin: Float32Array;
  readonly half: number;
  readonly epsilon: number;
}

/** Tables that reach the largest position. */
export function createRotation(
  positions: Int32Array,
  { headDim, ropeTheta, normEpsilon }: AttentionGeometry,
): Rotation {
  const last = positions.reduce((a, b) => Math.max(a, b), 0);
  return { ...ropeTable(last + 1, headDim, ropeTheta), half: headDim / 2, epsilon: normEpsilon };
}

/** Fills q, k and v from qkv. */
export function rotateHeads(
  heap: WasmHeap,
  at: AttentionPlaces,
  positions: Int32Array,
  geometry: AttentionGeometry,
): void {
  const { heads, kvHeads, headDim } = geometry;
  const rows = positions.length;
  const f = heap.floats;
  const rotation = createRotation(positions, geometry);
  const scale = 1 / Math.sqrt(headDim);
  for (let row = 0; row < rows; row++) {
    const table = positions[row]! * rotation.half;
    let x = at.qkv + row * (heads + 2 * kvHeads) * headDim;
    for (let h = 0; h < heads; h++, x += headDim) {
      rotateHead(f, x, at.queryGain, at.q + (h * rows + row) * headDim, table, scale, rotation);
    }
    for (let h = 0; h < kvHeads; h++, x += headDim) {
      rotateHead(f, x, at.keyGain, at.k + (h * rows + row) * headDim, table, 1, rotation);
    }
    for (let h = 0; h < kvHeads; h++, x += headDim) f.copyWithin(at.v + (h * rows + row) * headDim, x, x + headDim);
  }
}

/** out = rotate(x / rms(x) * gain) * scale. */
export function rotateHead(
  f: Float32Array,
  x: Place,
  gain: Place,
  out: Place,
  table: number,
  scale: number,
  { cos, sin, half, epsilon }: Rotation,
): void {
  const r = inverseRms(f, x, 2 * half, epsilon) * scale;
  for (let i = 0; i < half; i++) {
    const a = f[x + i]! * r * f[gain + i]!;
    const b = f[x + half + i]! * r * f[gain + half + i]!;
    const c = cos[table + i]!;
    const s = sin[table + i]!;
    f[out + i] = a * c - b * s;
    f[out + half + i] = b * c + a * s;
  }
}

/** dQkv and the gains' gradients from dq, dk and dv (head by head). */
export function rotateHeadsBackward(
  heap: WasmHeap,
  at: AttentionPlaces,
  to: AttentionGradients,
  from: { dq: Place; dk: Place; dv: Place },
  positions: Int32Array,
  geometry: AttentionGeometry,
): void {
  const { heads, kvHeads, headDim } = geometry;
  const rows = positions.length;
  const f = heap.floats;
  const rotation = createRotation(positions, geometry);
  const scale = 1 / Math.sqrt(headDim);
  const width = (heads + 2 * kvHeads) * headDim;
  for (let row = 0; row < rows; row++) {
    const table = positions[row]! * rotation.half;
    let column = row * width;
    for (let h = 0; h < heads; h++, column += headDim) {
      const dy = from.dq + (h * rows + row) * headDim;
      const query = { x: at.qkv + column, gain: at.queryGain, dy, dx: to.dQkv + column, dGain: to.dQueryGain };
      rotateHeadBackward(f, query, table, scale, rotation);
    }
    for (let h = 0; h < kvHeads; h++, column += headDim) {
      const dy = from.dk + (h * rows + row) * headDim;
      const key = { x: at.qkv + column, gain: at.keyGain, dy, dx: to.dQkv + column, dGain: to.dKeyGain };
      rotateHeadBackward(f, key, table, 1, rotation);
    }
    for (let h = 0; h < kvHeads; h++, column += headDim) {
      const dy = from.dv + (h * rows + row) * headDim;
      f.copyWithin(to.dQkv + column, dy, dy + headDim);
    }
  }
}

/** The rotation turned back, then RMSNorm's gradient (see norm.ts); dy is overwritten. */
function rotateHeadBackward(
  f: Float32Array,
  at: { x: Place; gain: Place; dy: Place; dx: Place; dGain: Place },
  table: number,
  scale: number,
  { cos, sin, half, epsilon }: Rotation,
): void {
  const { x, gain, dy, dx, dGain } = at;
  const width = 2 * half;
  for (let i = 0; i < half; i++) {
    const a = f[dy + i]! * scale;
    const b = f[dy + half + i]! * scale;
    const c = cos[table + i]!;
    const s = sin[table + i]!;
    f[dy + i] = a * c + b * s;
    f[dy + half + i] = b * c - a * s;
  }
  const r = inverseRms(f, x, width, epsilon);
  let sum = 0;
  for (let i = 0; i < width; i++) {
    const dyn = f[dy + i]! * f[x + i]! * r;
    f[dGain + i] = f[dGain + i]! + dyn;
    sum += dyn * f[gain + i]!;
  }
  const mean = (sum / width) * r;
  for (let i = 0; i < width; i++) f[dx + i] = r * (f[dy + i]! * f[gain + i]! - f[x + i]! * mean);
}
