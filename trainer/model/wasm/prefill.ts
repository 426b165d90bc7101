/** Reading prompts before decoding: all of them at once, packed in rows, into the caches of each layer. */
import type { Layout } from '../layout.ts';
import { attentionForward, countProbabilities } from './attention.ts';
import type { AttentionPlaces } from './attention.ts';
import type { Cache } from './decode-attention.ts';
import type { DecoderLayer, HeapDecoder } from './decoder.ts';
import type { Place } from './heap.ts';
import { gatherInto } from './rows.ts';

/**
 * Fills `caches` (one a layer, slot p for prompt p) and gives the hidden state of each prompt's last token, [prompts, D],
 * in scratch memory. `layout` holds prompts only: segment p is prompt p.
 */
export function prefill(decoder: HeapDecoder, layout: Layout, caches: readonly Cache[]): Place {
  const { heap } = decoder;
  const n = layout.ids.length;
  const x = decoder.embed(layout.ids);
  decoder.layers.forEach((layer, l) => {
    const places = attentionScratch(decoder, layer, decoder.projectQkv(layer, x, n), layout);
    attentionForward(heap, places, layout, decoder.geometry);
    layout.segments.forEach((segment, slot) => {
      fillCache(decoder, places, segment, n, caches[l]!, slot);
    });
    decoder.finishLayer(layer, x, places.y, n);
  });
  const width = decoder.config.hidden_size;
  const last = heap.scratch('decode.last', layout.segments.length * width);
  const lastRows = Int32Array.from(layout.segments, (segment) => segment.start + segment.length - 1);
  gatherInto(heap.floats, x, lastRows, last, width);
  return last;
}

function attentionScratch(decoder: HeapDecoder, layer: DecoderLayer, qkv: Place, layout: Layout): AttentionPlaces {
  const { heap } = decoder;
  const { heads, kvHeads, headDim } = decoder.geometry;
  const n = layout.ids.length;
  return {
    qkv,
    queryGain: layer.queryNorm,
    keyGain: layer.keyNorm,
    q: heap.scratch('prefill.q', heads * n * headDim),
    k: heap.scratch('prefill.k', kvHeads * n * headDim),
    v: heap.scratch('prefill.v', kvHeads * n * headDim),
    probabilities: heap.scratch('prefill.probabilities', countProbabilities(layout, heads)),
    y: heap.scratch('prefill.y', n * heads * headDim),
  };
}

/** Copies a prompt's keys, and its values transposed, out of [KV, n, d]. */
function fillCache(
  decoder: HeapDecoder,
  { k, v }: AttentionPlaces,
  segment: { start: number; length: number },
  n: number,
  cache: Cache,
  slot: number,
): void {
  const { kvHeads, headDim } = decoder.geometry;
  const f = decoder.heap.floats;
  for (let h = 0; h < kvHeads; h++) {
    const from = (h * n + segment.start) * headDim;
    f.copyWithin(
      cache.keys + (slot * kvHeads + h) * cache.capacity * headDim,
      k + from,
      k + from + segment.length * headDim,
    );
    const values = cache.values + (slot * kvHeads + h) * headDim * cache.capacity;
    for (let t = 0; t < segment.length; t++) {
      for (let i = 0; i < headDim; i++) f[values + i * cache.capacity + t] = f[v + from + t * headDim + i]!;
    }
  }
}
