/**
 * The table of a decoder's weights: one row each, read by the model, the optimizer and the checkpoint.
 *
 * Matrices are kept as [in, out], the other way round than torch's Linear, because that is the operand matMul wants, and
 * those that read the same rows lie side by side in one matrix (query, key, value; gate, up). `parts` says which columns
 * are which: each part is a matrix of its own to the optimizer, and a tensor of its own, transposed, in a checkpoint.
 */
import type { ModelConfig } from './config.ts';

/** One matrix of transformers within a stored one: its name there and how many columns it takes here. */
export interface Part {
  readonly hfName: string;
  readonly columns: number;
}

export interface ParameterSpec {
  readonly name: string;
  readonly shape: readonly number[];
  /** `matrix`: Muon's, starts normal. `embedding`: AdamW's, starts normal. `gain`: AdamW's, starts at 1. */
  readonly kind: 'matrix' | 'embedding' | 'gain';
  readonly parts: readonly Part[];
}

/** Every weight of a decoder, in order of use. */
export function parameterSpecs(config: ModelConfig): ParameterSpec[] {
  const width = config.hidden_size;
  const layers = Array.from({ length: config.num_hidden_layers }, (_, layer) => layerSpecs(config, layer));
  const embedding: ParameterSpec = {
    name: 'embedding',
    shape: [config.vocab_size, width],
    kind: 'embedding',
    parts: [{ hfName: 'model.embed_tokens.weight', columns: width }],
  };
  return [embedding, ...layers.flat(), gain('norm', width, 'model.norm.weight')];
}

function layerSpecs(config: ModelConfig, layer: number): ParameterSpec[] {
  const { hidden_size: width, head_dim: headDim, intermediate_size: inner } = config;
  const queryWidth = config.num_attention_heads * headDim;
  const keyWidth = config.num_key_value_heads * headDim;
  const own = (name: string): string => `layers.${layer}.${name}`;
  const hf = (name: string): string => `model.layers.${layer}.${name}.weight`;
  const matrix = (name: string, rows: number, parts: readonly [string, number][]): ParameterSpec => ({
    name: own(name),
    shape: [rows, parts.reduce((sum, [, columns]) => sum + columns, 0)],
    kind: 'matrix',
    parts: parts.map(([hfName, columns]) => ({ hfName: hf(hfName), columns })),
  });
  return [
    gain(own('input_norm'), width, hf('input_layernorm')),
    matrix('qkv', width, [
      ['self_attn.q_proj', queryWidth],
      ['self_attn.k_proj', keyWidth],
      ['self_attn.v_proj', keyWidth],
    ]),
    gain(own('query_norm'), headDim, hf('self_attn.q_norm')),
    gain(own('key_norm'), headDim, hf('self_attn.k_norm')),
    matrix('o', queryWidth, [['self_attn.o_proj', width]]),
    gain(own('mlp_norm'), width, hf('post_attention_layernorm')),
    matrix('gate_up', width, [
      ['mlp.gate_proj', inner],
      ['mlp.up_proj', inner],
    ]),
    matrix('down', inner, [['mlp.down_proj', width]]),
  ];
}

function gain(name: string, width: number, hfName: string): ParameterSpec {
  return { name, shape: [width], kind: 'gain', parts: [{ hfName, columns: width }] };
}

export function countParameters(config: ModelConfig): number {
  return parameterSpecs(config).reduce((sum, spec) => sum + spec.shape.reduce((a, b) => a * b, 1), 0);
}
