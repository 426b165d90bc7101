/**
 * Sampling completions from a policy: prompts are read at once, then all rows take one token a step from a cache of keys
 * and values, and a finished row leaves the batch. It runs on the wasm heap whatever backend trains: per-token work is
 * too small for tensors.
 *
 * Temperature divides the logits before the softmax, and the log-probabilities returned are of that distribution, before
 * top-p cuts it. They equal what `computeLogprobs` gives with the same temperature. Temperature 0 takes the likeliest
 * token and reports its log-probability at temperature 1.
 */
import { createRng, hash64 } from '../schemas/seed.ts';
import type { Rng } from '../schemas/seed.ts';
import { assertContext, assertIds, createPromptLayout } from './model/layout.ts';
import type { ModelConfig } from './model/config.ts';
import { attendRows } from './model/wasm/decode-attention.ts';
import type { Cache, DecodeRow } from './model/wasm/decode-attention.ts';
import { HeapDecoder } from './model/wasm/decoder.ts';
import type { Place, WasmHeap } from './model/wasm/heap.ts';
import { prefill } from './model/wasm/prefill.ts';

export interface SampleSettings {
  readonly max_new_tokens: number;
  /** 0 is greedy. */
  readonly temperature: number;
  /** Samples from the likeliest tokens that together have this probability; default 1, all tokens. */
  readonly top_p?: number;
  readonly eos_id: number;
}

export interface SampledCompletion {
  /** Ends with eos_id unless the length ended it. */
  readonly completion_ids: number[];
  /** Natural log, one for each id. */
  readonly sampled_logprobs: number[];
  readonly finish_reason: 'stop' | 'length';
}

export interface Sampler {
  /**
   * One completion for each prompt, in order. Prompts given several times in a row are read once. Row i draws from a
   * stream of (seed, firstRow + i), so equal calls give equal results, and a batch may be cut and sampled in parts. Other
   * rows in the batch change a row's log-probabilities by rounding only, about 1e-6, since sums are taken over the widest
   * row.
   * @throws RangeError if an id is outside the vocabulary or a prompt leaves no room in the context
   */
  sample(
    prompts: readonly (readonly number[])[],
    settings: SampleSettings,
    seed: bigint,
    firstRow?: number,
  ): SampledCompletion[];
  dispose(): void;
}

/** Most rows decoded together; more gain nothing and take memory. */
const MAX_ROWS = 128;

/**
 * Packs weights as they are now; later updates do not reach the sampler.
 * @param values By the names of parameters.ts, see `readParameters`; they may lie in shared memory.
 */
export function createSampler(heap: WasmHeap, config: ModelConfig, values: ReadonlyMap<string, Float32Array>): Sampler {
  const decoder = new HeapDecoder(heap, config, values);
  return {
    sample: (prompts, settings, seed, firstRow = 0) => {
      prompts.forEach((prompt) => {
        assertPrompt(prompt, decoder);
      });
      const size = Math.ceil(prompts.length / Math.ceil(prompts.length / MAX_ROWS));
      const out: SampledCompletion[] = [];
      while (out.length < prompts.length) {
        const part = prompts.slice(out.length, out.length + size);
        const row = firstRow + out.length;
        const rngs = part.map((_, i) => createRng(hash64('sample', seed, row + i)));
        out.push(...sampleRows(decoder, part, settings, rngs));
      }
      return out;
    },
    dispose: () => {
      decoder.dispose();
    },
  };
}

function assertPrompt(prompt: readonly number[], { config }: HeapDecoder): void {
  if (prompt.length === 0) throw new RangeError('a prompt has no tokens');
  assertIds(prompt, config);
  assertContext(prompt.length + 1, config);
}

/** A completion being written. */
interface Writing extends DecodeRow {
  readonly ids: number[];
  readonly logprobs: number[];
  readonly limit: number;
  readonly rng: Rng;
  isStopped: boolean;
}

function sampleRows(
  decoder: HeapDecoder,
  prompts: readonly (readonly number[])[],
  settings: SampleSettings,
  rngs: readonly Rng[],
): SampledCompletion[] {
  const { layout, promptOf } = createPromptLayout(prompts, decoder.config);
  const rows = prompts.map((prompt, slot): Writing => {
    const room = decoder.config.max_position_embeddings - prompt.length;
    return {
      ...{ promptSlot: promptOf[slot]!, promptLength: prompt.length, slot, ownLength: 0 },
      ...{ ids: [], logprobs: [], limit: Math.min(settings.max_new_tokens, room), rng: rngs[slot]!, isStopped: false },
    };
  });
  const promptCaches = createCaches(decoder, 'prompt', layout.segments.length, longest(prompts));
  const ownCaches = createCaches(decoder, 'own', rows.length, settings.max_new_tokens);
  const last = prefill(decoder, layout, promptCaches);
  let active = rows.filter((row) => row.limit > 0);
  const firstLogits = decoder.logits(last, layout.segments.length);
  pickTokens(
    decoder,
    firstLogits,
    active,
    active.map((row) => row.promptSlot),
    settings,
  );
  while ((active = active.filter((row) => !row.isStopped && row.ids.length < row.limit)).length > 0) {
    const x = decoder.embed(Int32Array.from(active, (row) => row.ids.at(-1)!));
    decoder.layers.forEach((layer, l) => {
      const qkv = decoder.projectQkv(layer, x, active.length);
      const caches = { prompt: promptCaches[l]!, own: ownCaches[l]! };
      const mixed = attendRows(decoder.heap, decoder.geometry, layer, qkv, active, caches);
      decoder.finishLayer(layer, x, mixed, active.length);
    });
    for (const row of active) row.ownLength++;
    pickTokens(decoder, decoder.logits(x, active.length), active, [...active.keys()], settings);
  }
  return rows.map((row) => ({
    completion_ids: row.ids,
    sampled_logprobs: row.logprobs,
    finish_reason: row.isStopped ? 'stop' : 'length',
  }));
}

function longest(lists: readonly (readonly number[])[]): number {
  return lists.reduce((most, list) => Math.max(most, list.length), 0);
}

/** One cache a layer in scratch memory. */
function createCaches({ heap, geometry, layers }: HeapDecoder, name: string, slots: number, capacity: number): Cache[] {
  const size = slots * geometry.kvHeads * capacity * geometry.headDim;
  return layers.map((_, l) => ({
    keys: heap.scratch(`decode.${name}.keys.${l}`, size),
    values: heap.scratch(`decode.${name}.values.${l}`, size),
    capacity,
  }));
}

/** Adds one token to each row, from the row of the logits that `logitRows` names. */
function pickTokens(
  { heap, config }: HeapDecoder,
  logits: Place,
  rows: readonly Writing[],
  logitRows: readonly number[],
  settings: SampleSettings,
): void {
  const vocab = config.vocab_size;
  const count = logitRows.reduce((most, row) => Math.max(most, row + 1), 0);
  const isGreedy = settings.temperature === 0;
  if (!isGreedy && settings.temperature !== 1) divide(heap.floats, logits, count * vocab, settings.temperature);
  const probabilities = heap.scratch('decode.probabilities', count * vocab);
  heap.softmax(logits, probabilities, count, vocab);
  const f = heap.floats;
  rows.forEach((row, i) => {
    const at = logitRows[i]! * vocab;
    const p = f.subarray(probabilities + at, probabilities + at + vocab);
    const best = argMax(p);
    const id = isGreedy ? best : pickIndex(p, row.rng.next(), settings.top_p ?? 1);
    row.ids.push(id);
    // the largest probability is 1 / sum(exp(z - max)), so this is z - logsumexp(z) without the log of a small number
    row.logprobs.push(Math.fround(f[logits + at + id]! - f[logits + at + best]! + Math.log(p[best]!)));
    row.isStopped = id === settings.eos_id;
  });
}

function divide(f: Float32Array, x: Place, length: number, by: number): void {
  for (let i = x; i < x + length; i++) f[i] = f[i]! / by;
}

function argMax(values: Float32Array): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[best]!) best = i;
  return best;
}

/** The index whose cumulative probability passes u in [0, 1); with topP < 1 among the likeliest that reach topP. */
export function pickIndex(p: Float32Array, u: number, topP: number): number {
  if (topP < 1) return pickLikely(p, u, topP);
  let rest = u * p.reduce((sum, value) => sum + value, 0);
  for (let i = 0; i < p.length; i++) {
    rest -= p[i]!;
    if (rest < 0) return i;
  }
  return argMax(p); // rounding used all of the sum up
}

/** Nucleus sampling (Holtzman et al. 2020). */
function pickLikely(p: Float32Array, u: number, topP: number): number {
  const order = Array.from(p.keys()).sort((a, b) => p[b]! - p[a]! || a - b);
  let mass = 0;
  const kept = order.findIndex((i) => (mass += p[i]!) >= topP);
  const nucleus = kept < 0 ? order : order.slice(0, kept + 1);
  let rest = u * mass;
  return nucleus.find((i) => (rest -= p[i]!) < 0) ?? nucleus[0]!;
}
