/**
 * Sampling completions from a policy: prompts are read at once, then all rows take one token a step from a cache of keys
 * and values, and a finished row leaves the batch. It runs on the wasm heap whatever backend trains: per-token work is
 * too small for tensors.
 *
 * A token is drawn so: the logits are divided by the temperature, tokens that the grammar forbids are taken out, then
 * what top-k and top-p cut. The log-probability returned is that of the token in what is left, the distribution it was
 * drawn from, and the mask of what is left goes with it. They equal what `computeLogprobs` gives with the same
 * temperature and masks. Temperature 0 takes the likeliest token and reports its log-probability at temperature 1.
 */
import { createRng, hash64 } from '../schemas/seed.ts';
import type { Rng } from '../schemas/seed.ts';
import { assertCut, chooseAtRandom, chooseGreedily, type CutSettings } from './decoding/choose.ts';
import { actionGrammar, type Grammar, type GrammarSettings, type GrammarState } from './decoding/grammar.ts';
import { createStopCheck } from './decoding/stop.ts';
import { assertContext, assertIds, createPromptLayout } from './model/layout.ts';
import type { ModelConfig } from './model/config.ts';
import { maskRow, type TokenMask } from './model/token-mask.ts';
import { countParameters } from './model/parameters.ts';
import { attendRows } from './model/wasm/decode-attention.ts';
import type { Cache, DecodeRow } from './model/wasm/decode-attention.ts';
import { HeapDecoder } from './model/wasm/decoder.ts';
import type { Place, WasmHeap } from './model/wasm/heap.ts';
import { prefill } from './model/wasm/prefill.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Plain data: the same for a sampler in another thread. */
export interface SampleSettings extends CutSettings {
  readonly max_new_tokens: number;
  /** 0 is greedy. */
  readonly temperature: number;
  readonly eos_id: number;
  /** Texts that end a completion, see decoding/stop.ts. */
  readonly stop?: readonly string[] | undefined;
  /** Only completions that are valid are written, see decoding/grammar.ts. */
  readonly grammar?: GrammarSettings | undefined;
}

export interface SampledCompletion {
  /** All that was sampled; ends with eos_id unless the length or a stop string ended it. */
  readonly completion_ids: number[];
  /** Natural log of the probability with which each id was drawn. */
  readonly sampled_logprobs: number[];
  /** What each id could have been, where grammar, top-k or top-p left some out; absent where all could be drawn. */
  readonly token_masks?: TokenMask[];
  /** `length`: cut by the token limit or the context, so it is not whole. */
  readonly finish_reason: 'stop' | 'length';
}

export interface Sampler {
  /**
   * One completion for each prompt, in order. Prompts given several times in a row are read once. Row i draws from a
   * stream of (seed, firstRow + i), so equal calls give equal results, and a batch may be cut and sampled in parts. Other
   * rows in the batch change nothing of a row where hidden_size is a multiple of 32, and else its log-probabilities by
   * rounding, about 1e-6: a product adds the last one to three rows up in another order (model/kernels/gemm.ts).
   * @throws RangeError if an id is outside the vocabulary, a prompt leaves no room in the context, or a setting is out of
   * its range; Error if a stop string or a grammar is asked of a sampler without a tokenizer
   */
  sample(
    prompts: readonly (readonly number[])[],
    settings: SampleSettings,
    seed: bigint,
    firstRow?: number,
  ): SampledCompletion[];
  dispose(): void;
}

/** Fewest and most rows decoded together. */
const [MIN_ROWS, MAX_ROWS] = [8, 128];

/**
 * Rows to decode together: as many as have caches about as large as the weights. Each step reads all of both, the weights once
 * for all rows, and what does not fit the processor's cache is read from memory (trainer/LOG.md).
 */
function countRows(config: ModelConfig, tokens: number): number {
  const cached = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim * tokens;
  return Math.min(MAX_ROWS, Math.max(MIN_ROWS, Math.ceil(countParameters(config) / cached)));
}

/**
 * Packs weights as they are now; later updates do not reach the sampler.
 * @param values By the names of parameters.ts, see `readParameters`; they may lie in shared memory.
 * @param tokenizer For stop strings and grammars, which are about text.
 */
export function createSampler(
  heap: WasmHeap,
  config: ModelConfig,
  values: ReadonlyMap<string, Float32Array>,
  tokenizer?: Tokenizer,
): Sampler {
  const decoder = new HeapDecoder(heap, config, values);
  return {
    sample: (prompts, settings, seed, firstRow = 0) => {
      prompts.forEach((prompt) => {
        assertPrompt(prompt, decoder);
      });
      const rules = createRules(settings, tokenizer);
      const most = countRows(config, Math.min(longest(prompts) + rules.max_new_tokens, config.max_position_embeddings));
      const size = Math.ceil(prompts.length / Math.ceil(prompts.length / most));
      const out: SampledCompletion[] = [];
      while (out.length < prompts.length) {
        const part = prompts.slice(out.length, out.length + size);
        const row = firstRow + out.length;
        const rngs = part.map((_, i) => createRng(hash64('sample', seed, row + i)));
        out.push(...sampleRows(decoder, part, rules, rngs));
      }
      return out;
    },
    dispose: () => {
      decoder.dispose();
    },
  };
}

/** Settings with what they ask of the tokenizer. */
interface Rules extends SampleSettings {
  readonly actionGrammar: Grammar | undefined;
  readonly isStop: (ids: readonly number[], last: number) => boolean;
}

function createRules(settings: SampleSettings, tokenizer: Tokenizer | undefined): Rules {
  const { stop = [], grammar } = settings;
  assertCut(settings);
  if (tokenizer) {
    return {
      ...settings,
      actionGrammar: grammar && actionGrammar(tokenizer, grammar),
      isStop: stop.length === 0 ? () => false : createStopCheck(tokenizer, stop),
    };
  }
  if (stop.length > 0 || grammar) throw new Error('stop strings and grammars need a sampler with a tokenizer');
  return { ...settings, actionGrammar: undefined, isStop: () => false };
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
  readonly masks: TokenMask[];
  readonly limit: number;
  readonly rng: Rng;
  grammarState: GrammarState | undefined;
  isStopped: boolean;
}

function sampleRows(
  decoder: HeapDecoder,
  prompts: readonly (readonly number[])[],
  rules: Rules,
  rngs: readonly Rng[],
): SampledCompletion[] {
  const { layout, promptOf } = createPromptLayout(prompts, decoder.config);
  const rows = prompts.map((prompt, slot): Writing => {
    const room = decoder.config.max_position_embeddings - prompt.length;
    return {
      ...{ promptSlot: promptOf[slot]!, promptLength: prompt.length, slot, ownLength: 0 },
      ...{ ids: [], logprobs: [], masks: [], limit: Math.min(rules.max_new_tokens, room), rng: rngs[slot]! },
      ...{ grammarState: rules.actionGrammar?.start, isStopped: false },
    };
  });
  const promptCaches = createCaches(decoder, 'prompt', layout.segments.length, longest(prompts));
  const ownCaches = createCaches(decoder, 'own', rows.length, Math.max(...rows.map((row) => row.limit)));
  const last = prefill(decoder, layout, promptCaches);
  let active = rows.filter((row) => row.limit > 0);
  const firstLogits = decoder.logits(last, layout.segments.length);
  pickTokens(
    decoder,
    firstLogits,
    active,
    active.map((row) => row.promptSlot),
    rules,
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
    pickTokens(decoder, decoder.logits(x, active.length), active, [...active.keys()], rules);
  }
  return rows.map((row) => ({
    completion_ids: row.ids,
    sampled_logprobs: row.logprobs,
    ...(row.masks.length > 0 && { token_masks: row.masks }),
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
  rules: Rules,
): void {
  const vocab = config.vocab_size;
  const count = logitRows.reduce((most, row) => Math.max(most, row + 1), 0);
  const isGreedy = rules.temperature === 0;
  if (!isGreedy && rules.temperature !== 1) divide(heap.floats, logits, count * vocab, rules.temperature);
  const rowOf = (place: Place, i: number): Float32Array => {
    const at = place + logitRows[i]! * vocab;
    return heap.floats.subarray(at, at + vocab);
  };
  // Rows that share logits have written nothing yet, so they share the grammar's first state as well.
  const masks = rows.map(({ grammarState }) => grammarState && rules.actionGrammar?.allowed(grammarState));
  masks.forEach((mask, i) => {
    if (mask) maskRow(mask, rowOf(logits, i));
  });
  const probabilities = heap.scratch('decode.probabilities', count * vocab);
  heap.softmax(logits, probabilities, count, vocab);
  rows.forEach((row, i) => {
    const distribution = { p: rowOf(probabilities, i), z: rowOf(logits, i), mask: masks[i] };
    const { id, logprob, mask } = isGreedy
      ? chooseGreedily(distribution)
      : chooseAtRandom(distribution, row.rng.next(), rules);
    row.ids.push(id);
    row.logprobs.push(logprob);
    if (mask) row.masks.push(mask);
    if (row.grammarState) row.grammarState = rules.actionGrammar?.advance(row.grammarState, id);
    row.isStopped = id === rules.eos_id || rules.isStop(row.ids, id);
  });
}

function divide(f: Float32Array, x: Place, length: number, by: number): void {
  for (let i = x; i < x + length; i++) f[i] = f[i]! / by;
}
