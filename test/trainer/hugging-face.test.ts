/** config.json as versions of transformers write it: what is the same decoder is read, what is not is refused by its key. */
import { expect, test } from 'vitest';
import { tinyConfig } from '../../trainer/model/config.ts';
import { fromHfConfig, toHfConfig } from '../../trainer/model/hugging-face.ts';

const config = { ...tinyConfig(40), num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16, rope_theta: 1e6 };
const own = toHfConfig(config, { eos_token_id: 2 }) as Record<string, unknown>;
const without = (...keys: string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(own).filter(([key]) => !keys.includes(key)));

test.each([
  ['our own', own],
  ['transformers 4', { ...own, rope_scaling: null, sliding_window: null, max_window_layers: 28 }],
  [
    'transformers 5',
    {
      ...without('rope_theta', 'torch_dtype'),
      ...{ dtype: 'bfloat16', rope_parameters: { rope_theta: 1e6, rope_type: 'default' }, pad_token_id: null },
      layer_types: ['full_attention', 'full_attention'],
    },
  ],
])('%s', (_, json) => {
  expect(fromHfConfig(json)).toEqual(config);
});

test('without head_dim it is that of Qwen3Config', () => {
  expect(fromHfConfig(without('head_dim')).head_dim).toBe(128);
});

test.each([
  [{ ...own, model_type: 'llama' }, 'model_type is "llama", and only "qwen3" can be loaded'],
  [without('model_type'), 'model_type is missing'],
  [without('tie_word_embeddings'), 'tie_word_embeddings is false'],
  [{ ...own, attention_bias: true }, 'attention_bias is true'],
  [{ ...own, hidden_act: 'gelu' }, 'hidden_act is "gelu"'],
  [{ ...own, rope_scaling: { type: 'linear', factor: 2 } }, 'rope_type is "linear"'],
  [{ ...own, rope_parameters: { rope_type: 'yarn' } }, 'rope_type is "yarn"'],
  [{ ...own, rope_parameters: { partial_rotary_factor: 0.5 } }, 'partial_rotary_factor is 0.5'],
  [{ ...own, layer_types: ['full_attention', 'sliding_attention'] }, 'layer_types is "sliding_attention"'],
  [{ ...own, quantization_config: { bits: 4 } }, 'quantization_config is {"bits":4}'],
  [without('rope_theta'), 'rope_theta: '],
  [{ ...own, vocab_size: '40' }, 'vocab_size: '],
])('refused: %#', (json, message) => {
  expect(() => fromHfConfig(json)).toThrow(message);
});
