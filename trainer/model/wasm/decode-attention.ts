/** Attention of one new token per row over the keys and values of its prompt and of its own earlier tokens. */
import type { AttentionGeometry } from '../ops.ts';
import { ropeTable } from './attention.ts';
import type { DecoderLayer } from './decoder.ts';
import type { Place, WasmHeap } from './heap.ts';

/** Keys and values of one layer, each [slots, KV, capacity, d]. */
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

/** Appends the new token of each row to its cache and attends: [n, (H + 2 KV) d] to [n, H d] in scratch memory. */
export function attendRows(
  heap: WasmHeap,
  geometry: AttentionGeometry,
  layer: DecoderLayer,
  qkv: Place,
  rows: readonly DecodeRow[],
  caches: { prompt: Cache; own: Cache },
): Place {
  const { heads, kvHeads, headDim, normEpsilon } = geometry;
  const positions = rows.map((row) => row.promptLength + row.ownLength);
  const table = ropeTable(heap, positions, geometry);
  const places = rows.flatMap((row) => [row.promptSlot, row.promptLength, row.slot, row.ownLength]);
  const mixed = heap.scratch('decode.mixed', rows.length * heads * headDim);
  const longest = positions.reduce((a, b) => Math.max(a, b), 0) + 1;
  const work = heap.scratch('decode.work', headDim + longest) * 4;
  const numbers = heap.integers('decode.rows', places);
  const gains = [layer.queryNorm * 4, layer.keyNorm * 4] as const;
  const [prompt, own] = [pointers(caches.prompt), pointers(caches.own)];
  const sizes = [heads, kvHeads, headDim, normEpsilon] as const;
  heap.kernels.decodeAttention(
    ...[qkv * 4, ...gains, table, numbers, rows.length, ...prompt, ...own, mixed * 4, ...sizes, work],
  );
  return mixed;
}

function pointers({ keys, values, capacity }: Cache): [number, number, number] {
  return [keys * 4, values * 4, capacity];
}
