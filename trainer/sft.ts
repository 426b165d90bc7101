/**
 * Supervised fine-tuning: make the teacher's completions likely. Cross entropy on completion tokens alone, with more
 * weight on words, since they are what has to be copied from the prompt.
 *
 * The order of examples, and so every step, follows from the seed and the counters in SftState: a run that is stopped
 * after any step and taken up again ends in the same bytes. Examples are not sorted into buckets of length: rows are
 * packed without padding (model/layout.ts), so there is nothing to save.
 */
import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { createRng, hash64 } from '../schemas/seed.ts';
import { labelWords, renameWords } from './augment.ts';
import { createLayout } from './model/layout.ts';
import type { TokenBatch } from './model/layout.ts';
import { lossAndGradients, weightedLoss } from './model/loss.ts';
import { forward } from './model/model.ts';
import type { Model } from './model/model.ts';
import type { Optimizer } from './optimizer.ts';
import { encodeCompletion, encodePrompt } from './tokenizer.ts';
import type { Tokenizer } from './tokenizer.ts';
import type { TextPair } from './vocabulary.ts';

const Count = z.number().int().positive();
const Share = z.number().min(0).max(1);

export const SftSettings = z.strictObject({
  seed: z.number().int().default(0).describe('Order of the examples'),
  batch_size: Count.default(12).meta({ description: 'Examples of a step', unit: 'examples' }),
  max_tokens: Count.default(450_000).meta({ description: 'Tokens to train on, prompts included', unit: 'tokens' }),
  warmup_steps: Count.default(50).meta({ description: 'Steps in which the rate rises to its value', unit: 'steps' }),
  decay_share: Share.default(0.3).describe('Last share of the tokens, in which the rate falls to 0'),
  word_weight: z.number().positive().default(2).describe('Weight of tokens of words; others weigh 1'),
  rename_share: Share.default(1).describe('Share of examples whose label words are replaced by others, see augment.ts'),
  validate_every: Count.default(25).meta({ description: 'Steps between validations', unit: 'steps' }),
  stop_at_exact: Share.default(0.97).describe(
    'Share of validation completions all right at which to stop; 1 never stops',
  ),
});
export type SftSettings = z.infer<typeof SftSettings>;

/** Where a run is; with the weights and the optimizer's moments, all that resuming takes. */
export interface SftState {
  optimizer_step: number;
  /** Tokens trained on, prompts included. */
  tokens: number;
  /** Examples taken from the endless order. */
  examples: number;
  /** Updates in a row that were skipped, since a gradient was not finite. */
  skipped_in_a_row: number;
  is_finished: boolean;
}

export const SFT_START: SftState = {
  ...{ optimizer_step: 0, tokens: 0, examples: 0, skipped_in_a_row: 0, is_finished: false },
};

export interface SftParts {
  readonly model: Model;
  readonly tokenizer: Tokenizer;
  readonly optimizer: Optimizer;
  readonly examples: readonly TextPair[];
  /** Examples never trained on; none to go without validation. */
  readonly validation: readonly TextPair[];
  /** Called after each step, with the state it led to; a good place to save a checkpoint. */
  readonly onStep: (state: SftState, metrics: Readonly<Record<string, number>>) => Promise<void> | void;
}

/** Updates in a row without finite gradients after which the run stops. */
const MAX_SKIPPED = 3;

/**
 * Trains from `start` until the tokens are used up or validation is good enough.
 * @throws Error if there are no examples, or if gradients stay non-finite
 */
export async function runSft(parts: SftParts, settings: SftSettings, start: SftState = SFT_START): Promise<SftState> {
  if (parts.examples.length === 0) throw new Error('there are no examples to train on');
  const examples = parts.examples.map((example) => encodeExample(parts.tokenizer, example));
  const validation = parts.validation.map((example) => encodeExample(parts.tokenizer, example));
  const isWord = (id: number): boolean => parts.tokenizer.isWord(id);
  const words = labelWords(examples, isWord);
  let state: SftState = { ...SFT_START, ...start };
  while (!state.is_finished) {
    if (state.skipped_in_a_row >= MAX_SKIPPED) {
      throw new Error(`${MAX_SKIPPED} updates in a row had gradients that are not finite: lower the learning rate`);
    }
    const startedMs = performance.now();
    const step = state.optimizer_step + 1;
    const rng = createRng(hash64('sft.rename', settings.seed, step));
    const batch = takeBatch(examples, state.examples, settings).map((example) =>
      rng.next() < settings.rename_share ? renameWords(example, words, isWord, rng) : example,
    );
    const tokens = state.tokens + countTokens(batch);
    const lrFactor = learningRateFactor(step, state.tokens, settings);
    const { loss, update } = await takeStep(parts, batch, lrFactor, settings.word_weight);
    const metrics: Record<string, number> = {
      'loss/sft': loss,
      'optim/lr_factor': lrFactor,
      'optim/grad_norm': update.grad_norm,
      'optim/skipped_steps': parts.optimizer.skipped_steps,
      'perf/tensors': tf.memory().numTensors,
      'perf/tokens_per_s': ((tokens - state.tokens) / (performance.now() - startedMs)) * 1000,
    };
    const isLast = tokens >= settings.max_tokens;
    if (validation.length > 0 && (isLast || step % settings.validate_every === 0)) {
      Object.assign(metrics, await validate(parts.model, validation));
    }
    const isGood = (metrics['validation/exact'] ?? 0) >= settings.stop_at_exact && settings.stop_at_exact < 1;
    const taken = state.examples + settings.batch_size;
    const skipped = update.skipped ? state.skipped_in_a_row + 1 : 0;
    state = {
      ...{ optimizer_step: step, tokens, examples: taken, skipped_in_a_row: skipped },
      is_finished: (isLast || isGood) && skipped < MAX_SKIPPED,
    };
    await parts.onStep(state, metrics);
  }
  return state;
}

interface EncodedExample {
  readonly prompt_ids: readonly number[];
  readonly completion_ids: readonly number[];
  readonly isWord: readonly boolean[];
}

function encodeExample(tokenizer: Tokenizer, { prompt, completion }: TextPair): EncodedExample {
  const completionIds = encodeCompletion(tokenizer, completion);
  return {
    prompt_ids: encodePrompt(tokenizer, prompt),
    completion_ids: completionIds,
    isWord: completionIds.map((id) => tokenizer.isWord(id)),
  };
}

/** The next examples of the endless order: every pass over them is shuffled by a stream of its own. */
function takeBatch(examples: readonly EncodedExample[], taken: number, settings: SftSettings): EncodedExample[] {
  return Array.from({ length: settings.batch_size }, (_, i) => {
    const pass = Math.floor((taken + i) / examples.length);
    return examples[orderOf(pass, examples.length, settings.seed)[(taken + i) % examples.length]!]!;
  });
}

let lastOrder: { key: string; order: readonly number[] } | undefined;

function orderOf(pass: number, length: number, seed: number): readonly number[] {
  const key = `${seed}/${pass}/${length}`;
  if (lastOrder?.key !== key) {
    const rng = createRng(hash64('sft.order', seed, pass));
    lastOrder = { key, order: rng.shuffle(Array.from({ length }, (_, i) => i)) };
  }
  return lastOrder.order;
}

function countTokens(batch: readonly EncodedExample[]): number {
  return batch.reduce((sum, { prompt_ids, completion_ids }) => sum + prompt_ids.length + completion_ids.length, 0);
}

/** Linear warm-up, then constant, then linear to 0 over the last share of the tokens. */
export function learningRateFactor(step: number, tokens: number, settings: SftSettings): number {
  const warmup = Math.min(1, step / settings.warmup_steps);
  const left = Math.max(0, 1 - tokens / settings.max_tokens);
  return warmup * (settings.decay_share === 0 ? 1 : Math.min(1, left / settings.decay_share));
}

async function takeStep(parts: SftParts, batch: readonly EncodedExample[], lrFactor: number, wordWeight: number) {
  const weights = batch.map(({ isWord }) => isWord.map((word) => (word ? wordWeight : 1)));
  const normaliser = weights.flat().reduce((a, b) => a + b, 0);
  const lossBatch = { ...toTokenBatch(batch), columns: { weights } };
  const { loss, gradients } = await lossAndGradients(parts.model, lossBatch, weightedLoss(normaliser));
  return { loss, update: await parts.optimizer.apply(gradients, lrFactor) };
}

function toTokenBatch(examples: readonly EncodedExample[]): TokenBatch {
  return {
    prompt_ids: examples.map((example) => example.prompt_ids),
    completion_ids: examples.map((example) => example.completion_ids),
  };
}

/** Examples looked at together in validation; bounds memory. */
const VALIDATION_BATCH = 32;

/**
 * Teacher-forced argmax over validation examples. `exact`: completions whose tokens are all the likeliest, which is when
 * greedy decoding would write them; `words`: the share of word tokens that are.
 */
async function validate(model: Model, examples: readonly EncodedExample[]): Promise<Record<string, number>> {
  let exact = 0;
  const words = { right: 0, all: 0 };
  for (let start = 0; start < examples.length; start += VALIDATION_BATCH) {
    const part = examples.slice(start, start + VALIDATION_BATCH);
    const likeliest = await argMaxTokens(model, toTokenBatch(part));
    let at = 0;
    for (const { completion_ids, isWord } of part) {
      const right = completion_ids.map((id) => likeliest[at++] === id);
      exact += right.every(Boolean) ? 1 : 0;
      words.all += isWord.filter(Boolean).length;
      words.right += right.filter((ok, i) => ok && isWord[i]).length;
    }
  }
  return { 'validation/exact': exact / examples.length, 'validation/words': words.right / Math.max(1, words.all) };
}

async function argMaxTokens(model: Model, batch: TokenBatch): Promise<Int32Array> {
  const layout = createLayout(batch, model.config);
  const likeliest = tf.tidy(() => tf.argMax(forward(model, layout), 1));
  const ids = await likeliest.data<'int32'>();
  likeliest.dispose();
  return ids;
}
