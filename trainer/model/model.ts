/**
 * The decoder: Qwen3's architecture (RMSNorm before each block, QK norm, RoPE, grouped-query attention, SwiGLU, tied
 * embeddings, no bias) in the operators of ops.ts. One definition for every backend.
 *
 * In the last layer only rows that predict a completion token go on after attention: the other rows' outputs would be
 * read by nobody.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { Rng } from '../../schemas/seed.ts';
import type { Backend } from '../backend.ts';
import type { ModelConfig } from './config.ts';
import { attentionGeometry } from './geometry.ts';
import type { Layout } from './layout.ts';
import { parameterSpecs } from './parameters.ts';
import type { ParameterSpec } from './parameters.ts';

export interface Model {
  readonly config: ModelConfig;
  readonly backend: Backend;
  /** By the names of parameters.ts. A variable's value is only ever replaced, never written in place. */
  readonly parameters: ReadonlyMap<string, tf.Variable>;
}

/** A model with weights drawn from `rng`: normal with config.initializer_range, gains 1. */
export function createModel(config: ModelConfig, backend: Backend, rng: Rng): Model {
  return buildModel(config, backend, (spec, size) => {
    const values = new Float32Array(size);
    if (spec.kind === 'gain') return values.fill(1);
    return values.map(() => rng.normal() * config.initializer_range);
  });
}

/** A model whose weights `valuesOf` gives, as [in, out] in row-major order. */
export function buildModel(
  config: ModelConfig,
  backend: Backend,
  valuesOf: (spec: ParameterSpec, size: number) => Float32Array,
): Model {
  const parameters = new Map<string, tf.Variable>();
  for (const spec of parameterSpecs(config)) {
    const size = spec.shape.reduce((a, b) => a * b, 1);
    const initial = tf.tensor(valuesOf(spec, size), [...spec.shape], 'float32');
    parameters.set(spec.name, tf.variable(initial));
    initial.dispose();
  }
  return { config, backend, parameters };
}

/** A model of its own with the same weights, for a frozen reference policy. */
export function cloneModel(model: Model): Model {
  const parameters = new Map([...model.parameters].map(([name, variable]) => [name, tf.variable(variable)]));
  return { ...model, parameters };
}

export function disposeModel(model: Model): void {
  for (const variable of model.parameters.values()) variable.dispose();
}

/** A copy of a weight's values, row-major. */
export async function readParameter(model: Model, name: string): Promise<Float32Array> {
  return Float32Array.from(await parameter(model, name).data<'float32'>());
}

/** Copies of all weights, by name, row-major: what a sampler is made from. */
export async function readParameters(model: Model): Promise<Map<string, Float32Array>> {
  const values = new Map<string, Float32Array>();
  for (const name of model.parameters.keys()) values.set(name, await readParameter(model, name));
  return values;
}

function parameter(model: Model, name: string): tf.Tensor {
  const variable = model.parameters.get(name);
  if (!variable) throw new Error(`the model has no parameter ${name}`);
  return variable;
}

/** Logits of every completion token of the layout, [K, V]. */
export function forward(model: Model, layout: Layout): tf.Tensor2D {
  const { ops } = model.backend;
  const { rms_norm_eps: epsilon, num_hidden_layers: layers } = model.config;
  const geometry = attentionGeometry(model.config);
  const weight = (name: string): tf.Tensor2D => parameter(model, name) as tf.Tensor2D;
  const gain = (name: string): tf.Tensor1D => parameter(model, name) as tf.Tensor1D;

  let x = ops.gatherRows(weight('embedding'), layout.ids); // [N, D]
  for (let layer = 0; layer < layers; layer++) {
    const own = (name: string): string => `layers.${layer}.${name}`;
    const qkv = ops.linear(ops.rmsNorm(x, gain(own('input_norm')), epsilon), weight(own('qkv'))); // [N, (H + 2 KV) d]
    let mixed = ops.attention(qkv, gain(own('query_norm')), gain(own('key_norm')), layout, geometry); // [N, H d]
    if (layer === layers - 1) {
      mixed = ops.gatherRows(mixed, layout.targetRows); // [K, H d]
      x = ops.gatherRows(x, layout.targetRows); // [K, D]
    }
    x = tf.add(x, ops.linear(mixed, weight(own('o'))));
    const gateUp = ops.linear(ops.rmsNorm(x, gain(own('mlp_norm')), epsilon), weight(own('gate_up'))); // [., 2 F]
    x = tf.add(x, ops.linear(ops.swiglu(gateUp), weight(own('down'))));
  }
  return ops.linearTransposed(ops.rmsNorm(x, gain('norm'), epsilon), weight('embedding')); // [K, V]
}
