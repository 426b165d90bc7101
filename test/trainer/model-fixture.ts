/** A model small enough for finite differences, with grouped-query attention, and batches for it. */
import { createBackend } from '../../trainer/backend.ts';
import type { Backend, BackendName } from '../../trainer/backend.ts';
import type { ModelConfig } from '../../trainer/model/config.ts';
import { createModel } from '../../trainer/model/model.ts';
import type { Model } from '../../trainer/model/model.ts';
import { createRng, hash64 } from '../../schemas/seed.ts';
import type { Rng } from '../../schemas/seed.ts';

export const SMALL_CONFIG: ModelConfig = {
  vocab_size: 40,
  hidden_size: 24,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  intermediate_size: 20,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  max_position_embeddings: 64,
  initializer_range: 0.3,
};

export async function createSmallModel(backend: BackendName | Backend, seed = 1): Promise<Model> {
  const ready = typeof backend === 'string' ? await createBackend(backend) : backend;
  return createModel(SMALL_CONFIG, ready, createRng(hash64('small model', seed)));
}

export function randomIds(rng: Rng, length: number, vocab = SMALL_CONFIG.vocab_size): number[] {
  return Array.from({ length }, () => rng.int(0, vocab - 1));
}

/** Two completions of one prompt and one of another, of different lengths, with columns for the losses. */
export function createLossBatch(seed = 1) {
  const rng = createRng(hash64('small batch', seed));
  const [first, second] = [randomIds(rng, 7), randomIds(rng, 5)] as const;
  const completions = [randomIds(rng, 6), randomIds(rng, 1), randomIds(rng, 9)];
  const column = (value: () => number): number[][] => completions.map((ids) => ids.map(value));
  return {
    prompt_ids: [first, first, second],
    completion_ids: completions,
    columns: {
      weights: column(() => rng.next() * 2 - 0.5),
      reference_logprobs: column(() => -3 - rng.next()),
      sampled_logprobs: column(() => -3 - rng.next()),
      advantages: column(() => rng.normal()),
    },
  };
}

/** Largest absolute difference of two lists of numbers. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Infinity;
  return Array.from(a).reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}
