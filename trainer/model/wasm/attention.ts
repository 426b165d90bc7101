/** Attention on the wasm heap: QK norm, RoPE and the causal product of each segment, with its gradient. */
import type { Layout } from '../layout.ts';
import { createRopeTable } from '../ops.ts';
import type { AttentionGeometry } from '../ops.ts';
import type { WasmHeap } from './heap.ts';
import type { Pointer } from './kernels.ts';

/** The tensors of one call: q [H, N, d], k and v [KV, N, d], probabilities per segment [H, length, keys rounded up to 8]. */
export interface AttentionPointers {
  qkv: Pointer;
  queryGain: Pointer;
  keyGain: Pointer;
  q: Pointer;
  k: Pointer;
  v: Pointer;
  probabilities: Pointer;
  /** [N, H d] */
  y: Pointer;
}

const roundUp = (x: number): number => Math.ceil(x / 8) * 8;

/** Probabilities of one head of a segment, with their padding. */
function countScores({ length, prefixLength }: { length: number; prefixLength: number }): number {
  return length * roundUp(prefixLength + length);
}

/** Elements of the probabilities of a whole layout. */
export function countProbabilities(layout: Layout, heads: number): number {
  return layout.segments.reduce((sum, segment) => sum + heads * countScores(segment), 0);
}

/** Angles of positions up to the largest: a row of d/2 cosines and d/2 sines each. */
export function ropeTable(heap: WasmHeap, positions: Iterable<number>, geometry: AttentionGeometry): Pointer {
  const { headDim, ropeTheta } = geometry;
  let last = 0;
  for (const position of positions) last = Math.max(last, position);
  return heap.table(`rope/${headDim}/${ropeTheta}`, (last + 1) * headDim, () => {
    const rows = Math.ceil((last + 1) / 256) * 256;
    const { cos, sin } = createRopeTable(rows, headDim, ropeTheta);
    const half = headDim / 2;
    return Float32Array.from({ length: rows * headDim }, (_, i) => {
      const [row, column] = [Math.floor(i / headDim), i % headDim];
      return column < half ? cos[row * half + column]! : sin[row * half + column - half]!;
    });
  });
}

/** Scratch of the widest segment, as ../kernels/attention.ts asks for it. */
function workFor(heap: WasmHeap, layout: Layout, headDim: number): Pointer {
  const width = headDim + 8;
  const sizes = layout.segments.map((segment) => {
    const { length, prefixLength } = segment;
    return 5 * roundUp(prefixLength + length) * width + 2 * length * width + countScores(segment);
  });
  const most = sizes.reduce((a, b) => Math.max(a, b), 0);
  return heap.scratch('attention.work', most) * 4;
}

export function attentionForward(
  heap: WasmHeap,
  at: AttentionPointers,
  layout: Layout,
  geometry: AttentionGeometry,
): void {
  const { heads, kvHeads, headDim, normEpsilon } = geometry;
  const rows = layout.ids.length;
  const table = ropeTable(heap, layout.positions, geometry);
  const positions = heap.integers('attention.positions', layout.positions);
  const work = workFor(heap, layout, headDim);
  const sizes = [rows, heads, kvHeads, headDim] as const;
  const heads3 = [at.q, at.k, at.v] as const;
  heap.kernels.rotateHeads(at.qkv, at.queryGain, at.keyGain, table, positions, ...heads3, ...sizes, normEpsilon);
  let p = at.probabilities;
  for (const segment of layout.segments) {
    const { start, length, prefixStart, prefixLength } = segment;
    heap.kernels.attentionForward(...heads3, p, at.y, start, length, prefixStart, prefixLength, ...sizes, work);
    p += heads * countScores(segment) * 4;
  }
}

export interface AttentionGradients {
  /** [N, H d] */
  dy: Pointer;
  dQkv: Pointer;
  /** [d] */
  dQueryGain: Pointer;
  /** [d] */
  dKeyGain: Pointer;
}

export function attentionBackward(
  heap: WasmHeap,
  at: AttentionPointers,
  gradients: AttentionGradients,
  layout: Layout,
  geometry: AttentionGeometry,
): void {
  const { heads, kvHeads, headDim, normEpsilon } = geometry;
  const { dy, dQkv, dQueryGain, dKeyGain } = gradients;
  const rows = layout.ids.length;
  const table = ropeTable(heap, layout.positions, geometry);
  const positions = heap.integers('attention.positions', layout.positions);
  const work = workFor(heap, layout, headDim);
  const [dq, dk, dv] = createHeads(heap, rows, geometry);
  const sizes = [rows, heads, kvHeads, headDim] as const;
  const operands = [at.q, at.k, at.v] as const;
  let p = at.probabilities;
  for (const segment of layout.segments) {
    const { start, length, prefixStart, prefixLength } = segment;
    const where = [start, length, prefixStart, prefixLength] as const;
    heap.kernels.attentionBackward(...operands, p, at.y, dy, dq, dk, dv, ...where, ...sizes, work);
    p += heads * countScores(segment) * 4;
  }
  const inputs = [at.qkv, at.queryGain, at.keyGain, table, positions] as const;
  heap.kernels.rotateHeadsBackward(...inputs, dq, dk, dv, dQkv, dQueryGain, dKeyGain, ...sizes, normEpsilon);
}

/** dq, and zeros for dk and dv, which segments add to. */
function createHeads(heap: WasmHeap, rows: number, { heads, kvHeads, headDim }: AttentionGeometry) {
  const size = kvHeads * rows * headDim;
  const dq = heap.scratch('attention.dq', heads * rows * headDim);
  const dk = heap.scratch('attention.dk', size);
  const dv = heap.scratch('attention.dv', size);
  heap.floats.fill(0, dk, dk + size);
  heap.floats.fill(0, dv, dv + size);
  return [dq * 4, dk * 4, dv * 4] as const;
}
