/** Reading prompts before decoding: all of them at once, packed in rows, into the caches of each layer. */
import type { Layout, Segment } from '../layout.ts';
import { attentionForward, countProbabilities } from './attention.ts';
import type { Cache } from './decode-attention.ts';
import type { HeapDecoder } from './decoder.ts';
import type { Place } from './heap.ts';

/**
 * Fills `caches` (one a layer, slot p for prompt p) and gives the hidden state of each prompt's last token, [prompts, D],
 * in scratch memory. `layout` holds prompts only: segment p is prompt p.
 */
export function prefill(decoder: HeapDecoder, layout: Layout, caches: readonly Cache[]): Place {
  const { heap, geometry } = decoder;
  const n = layout.ids.length;
  const x = decoder.embed(layout.ids);
  const { q, k, v, probabilities, y } = createScratch(decoder, layout);
  decoder.layers.forEach((layer, l) => {
    const inputs = { qkv: decoder.projectQkv(layer, x, n), queryGain: layer.queryNorm, keyGain: layer.keyNorm };
    attentionForward(heap, toPointers({ ...inputs, q, k, v, probabilities, y }), layout, geometry);
    layout.segments.forEach((segment, slot) => {
      fillCache(decoder, k, segment, n, caches[l]!.keys, caches[l]!.capacity, slot);
      fillCache(decoder, v, segment, n, caches[l]!.values, caches[l]!.capacity, slot);
    });
    decoder.finishLayer(layer, x, y, n);
  });
  return decoder.pickRows(
    x,
    layout.segments.map((segment) => segment.start + segment.length - 1),
  );
}

function createScratch({ heap, geometry }: HeapDecoder, layout: Layout) {
  const { heads, kvHeads, headDim } = geometry;
  const n = layout.ids.length;
  return {
    q: heap.scratch('prefill.q', heads * n * headDim),
    k: heap.scratch('prefill.k', kvHeads * n * headDim),
    v: heap.scratch('prefill.v', kvHeads * n * headDim),
    probabilities: heap.scratch('prefill.probabilities', countProbabilities(layout, heads)),
    y: heap.scratch('prefill.y', n * heads * headDim),
  };
}

/** Places to bytes. */
function toPointers<K extends string>(places: Readonly<Record<K, Place>>): Record<K, number> {
  return Object.fromEntries(Object.entries<Place>(places).map(([name, place]) => [name, place * 4])) as Record<
    K,
    number
  >;
}

/** Copies a prompt's rows of each head out of [KV, n, d] into its slot of [slots, KV, capacity, d]. */
function fillCache(
  { heap, geometry }: HeapDecoder,
  from: Place,
  { start, length }: Segment,
  n: number,
  cache: Place,
  capacity: number,
  slot: number,
): void {
  const { kvHeads, headDim } = geometry;
  for (let h = 0; h < kvHeads; h++) {
    const first = from + (h * n + start) * headDim;
    heap.floats.copyWithin(cache + (slot * kvHeads + h) * capacity * headDim, first, first + length * headDim);
  }
}
