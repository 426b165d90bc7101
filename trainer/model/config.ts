/**
 * The model's configuration: the keys and meanings of Hugging Face's `Qwen3ForCausalLM` config.json, so that the same
 * object is what a checkpoint holds. Left out: biases, rope scaling, sliding windows and untied embeddings, which the
 * decoder here does not have; a configuration that asks for one is refused.
 */
import { z } from 'zod';

const Count = z.number().int().positive();

export const ModelConfig = z
  .strictObject({
    vocab_size: Count,
    hidden_size: Count,
    num_hidden_layers: Count,
    num_attention_heads: Count,
    num_key_value_heads: Count.describe('Fewer than the attention heads: grouped-query attention'),
    head_dim: Count,
    intermediate_size: Count,
    rms_norm_eps: z.number().positive(),
    rope_theta: z.number().positive(),
    max_position_embeddings: Count.describe('Context: prompt and completion together, tokens'),
    initializer_range: z.number().positive().describe('Standard deviation of the first weights'),
  })
  .refine((config) => config.num_attention_heads % config.num_key_value_heads === 0, {
    error: 'num_attention_heads must be a multiple of num_key_value_heads',
  })
  .refine((config) => config.head_dim % 2 === 0, { error: 'head_dim must be even (rotary pairs)' });
export type ModelConfig = z.infer<typeof ModelConfig>;

/** What recipe runs found to learn from nothing in the fewest tokens; about .5 M parameters with 900 tokens. */
export function tinyConfig(vocabSize: number): ModelConfig {
  return {
    vocab_size: vocabSize,
    hidden_size: 128,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 4,
    head_dim: 32,
    intermediate_size: 384,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    max_position_embeddings: 1024,
    initializer_range: 0.02,
  };
}
