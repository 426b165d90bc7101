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
import { assertUpdated } from './divergence.ts';
import { createLayout } from './model/layout.ts';
import type { TokenBatch } from './model/layout.ts';
import { forward } from './model/model.ts';
import type { Model } from './model/model.ts';
import type { Optimizer } from './optimizer.ts';
import type { Compute } from './pool/compute.ts';
import { SCHEDULES, SCHEDULE_NAMES } from './schedule.ts';
import { createBatches, encodeExample, isRewritten, type EncodedExample } from './sft-batches.ts';
import type { Tokenizer } from './tokenizer.ts';
import type { TextPair } from './vocabulary.ts';

const Count = z.number().int().positive();
const Share = z.number().min(0).max(1);

export const SftSettings = z.strictObject({
  seed: z.number().int().default(0).describe('Order of the examples'),
  batch_size: Count.default(12).meta({ description: 'Examples of a step', unit: 'examples' }),
  max_tokens: Count.default(650_000).meta({ description: 'Tokens to train on, prompts included', unit: 'tokens' }),
  warmup_steps: Count.default(50).meta({ description: 'Steps in which the rate rises to its value', unit: 'steps' }),
  schedule: z.enum(SCHEDULE_NAMES).default('linear').describe('How the rate falls at the end'),
  decay_share: Share.default(0.3).describe('Last share of the tokens, in which the rate falls to 0'),
  word_weight: z.number().positive().default(2).describe('Weight of tokens of words; others weigh 1'),
  prompt_weight: z.number().min(0).default(0).describe('Weight of tokens of prompts; 0 trains on completions alone'),
  micro_batch_tokens: Count.default(8192).meta({
    description: 'Computed at once; gradients of a larger batch add up',
    unit: 'tokens',
  }),
  rename_share: Share.default(1).describe('Share of examples whose label words are replaced by others, see augment.ts'),
  made_up_share: Share.default(0).describe('Share of new label words that are made up, for an open vocabulary'),
  reword_share: Share.default(0).describe('Share of examples whose prompt is put in other words, see reword.ts'),
  ramp_tokens: z
    .number()
    .int()
    .min(0)
    .default(0)
    .meta({ description: 'First part, in which examples grow from short ones in known words to all', unit: 'tokens' }),
  sft_validate_every: Count.default(25).meta({ description: 'Steps between validations', unit: 'steps' }),
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
  readonly compute: Compute;
  readonly model: Model;
  readonly tokenizer: Tokenizer;
  readonly optimizer: Optimizer;
  readonly examples: readonly TextPair[];
  /** Examples never trained on; none to go without validation. */
  readonly validation: readonly TextPair[];
  /** Called after each step, with the state it led to; a good place to save a checkpoint. */
  readonly onStep: (state: SftState, metrics: Readonly<Record<string, number>>) => Promise<void> | void;
}

/**
 * Trains from `start` until the tokens are used up or validation is good enough.
 * @throws Error if there are no examples; Diverged if gradients stay non-finite
 */
export async function runSft(parts: SftParts, settings: SftSettings, start: SftState = SFT_START): Promise<SftState> {
  if (parts.examples.length === 0) throw new Error('there are no examples to train on');
  const batches = createBatches(parts.tokenizer, parts.examples, settings);
  const validation = encodeValidation(parts, settings);
  let state: SftState = { ...SFT_START, ...start };
  while (!state.is_finished) {
    assertUpdated('sft', state.optimizer_step, state.skipped_in_a_row);
    const startedMs = performance.now();
    const step = state.optimizer_step + 1;
    const batch = batches.take({ step, examples: state.examples, tokens: state.tokens });
    const tokens = state.tokens + countTokens(batch);
    const lrFactor = learningRateFactor(step, state.tokens, settings);
    const { loss, update } = await takeStep(parts, batch, lrFactor, settings);
    const metrics: Record<string, number> = {
      'loss/sft': loss,
      'optim/lr_factor': lrFactor,
      'optim/grad_norm': update.grad_norm,
      'optim/skipped_steps': parts.optimizer.skipped_steps,
      'perf/tensors': tf.memory().numTensors,
      'perf/tokens_per_s': ((tokens - state.tokens) / (performance.now() - startedMs)) * 1000,
    };
    const isLast = tokens >= settings.max_tokens;
    if (isLast || step % settings.sft_validate_every === 0) {
      for (const [name, of] of validation) Object.assign(metrics, await validate(parts, name, of));
    }
    const isGood = (metrics['validation/exact'] ?? 0) >= settings.stop_at_exact && settings.stop_at_exact < 1;
    const taken = state.examples + settings.batch_size;
    const skipped = update.skipped ? state.skipped_in_a_row + 1 : 0;
    state = {
      ...{ optimizer_step: step, tokens, examples: taken, skipped_in_a_row: skipped },
      is_finished: (isLast || isGood) && skipped === 0,
    };
    await parts.onStep(state, metrics);
  }
  return state;
}

/** Validation examples as they are, and rewritten like the training examples where those are. */
function encodeValidation({ tokenizer, validation }: SftParts, settings: SftSettings) {
  const sets: [name: string, examples: EncodedExample[]][] = [];
  if (validation.length === 0) return sets;
  sets.push(['validation', validation.map((example) => encodeExample(tokenizer, example))]);
  if (isRewritten(settings)) {
    const options = { ...settings, seed: 0, batch_size: validation.length, ramp_tokens: 0 };
    sets.push([
      'validation_rewritten',
      createBatches(tokenizer, validation, options).take({ step: 0, examples: 0, tokens: 0 }),
    ]);
  }
  return sets;
}

function countTokens(batch: readonly EncodedExample[]): number {
  return batch.reduce((sum, { prompt_ids, completion_ids }) => sum + prompt_ids.length + completion_ids.length, 0);
}

/** Linear warm-up, then constant, then down to 0 over the last share of the tokens. */
export function learningRateFactor(step: number, tokens: number, settings: SftSettings): number {
  const warmup = Math.min(1, step / settings.warmup_steps);
  const left = Math.max(0, 1 - tokens / settings.max_tokens);
  return warmup * SCHEDULES[settings.schedule](left, settings.decay_share);
}

async function takeStep(parts: SftParts, batch: readonly EncodedExample[], lrFactor: number, settings: SftSettings) {
  const trained = batch.map((example) => withWeights(example, parts.tokenizer, settings));
  const weights = trained.map((example) => example.weights);
  const normaliser = weights.flat().reduce((a, b) => a + b, 0);
  const lossBatch = { ...toTokenBatch(trained), columns: { weights } };
  const { loss, gradients } = await parts.compute.lossAndGradients(
    parts.model,
    lossBatch,
    { name: 'weighted', normaliser },
    { max_rows: settings.micro_batch_tokens },
  );
  return { loss, update: await parts.optimizer.apply(gradients, lrFactor) };
}

/** What each predicted token weighs. Where prompts are trained on, they are predicted too, all but their first token. */
function withWeights(
  { prompt_ids, completion_ids }: EncodedExample,
  tokenizer: Tokenizer,
  { word_weight, prompt_weight }: SftSettings,
): EncodedExample & { weights: number[] } {
  const weights = completion_ids.map((id) => (tokenizer.isWord(id) ? word_weight : 1));
  if (prompt_weight === 0) return { prompt_ids, completion_ids, weights };
  const [first, ...rest] = prompt_ids;
  return {
    prompt_ids: [first!],
    completion_ids: [...rest, ...completion_ids],
    weights: [...rest.map(() => prompt_weight), ...weights],
  };
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
async function validate(
  { model, tokenizer }: SftParts,
  name: string,
  examples: readonly EncodedExample[],
): Promise<Record<string, number>> {
  let exact = 0;
  const words = { right: 0, all: 0 };
  for (let start = 0; start < examples.length; start += VALIDATION_BATCH) {
    const part = examples.slice(start, start + VALIDATION_BATCH);
    const likeliest = await argMaxTokens(model, toTokenBatch(part));
    let at = 0;
    for (const { completion_ids } of part) {
      const isWord = completion_ids.map((id) => tokenizer.isWord(id));
      const right = completion_ids.map((id) => likeliest[at++] === id);
      exact += right.every(Boolean) ? 1 : 0;
      words.all += isWord.filter(Boolean).length;
      words.right += right.filter((ok, i) => ok && isWord[i]).length;
    }
  }
  return { [`${name}/exact`]: exact / examples.length, [`${name}/words`]: words.right / Math.max(1, words.all) };
}

async function argMaxTokens(model: Model, batch: TokenBatch): Promise<Int32Array> {
  const layout = createLayout(batch, model.config);
  const likeliest = tf.tidy(() => tf.argMax(forward(model, layout), 1));
  const ids = await likeliest.data<'int32'>();
  likeliest.dispose();
  return ids;
}
