/**
 * From a batch to a loss and its gradients. A loss is a function of the completion tokens' log-probabilities and
 * entropies and of per-token columns the caller brings (weights, advantages, old or reference log-probabilities). SFT and
 * REINFORCE are two such functions.
 */
import * as tf from '@tensorflow/tfjs-core';
import { createLayout } from './layout.ts';
import type { Layout, TokenBatch } from './layout.ts';
import { forward } from './model.ts';
import type { Model } from './model.ts';
import { maskLogits } from './token-mask.ts';

/** One number for each completion token: [completion][token], the shape of `completion_ids`. */
export type TokenColumn = readonly (readonly number[])[];

export interface LossBatch extends TokenBatch {
  readonly columns: Readonly<Record<string, TokenColumn>>;
}

/** What a loss sees: [K] vectors over all completion tokens of a part of the batch. */
export interface TokenView {
  readonly logprobs: tf.Tensor1D;
  readonly entropies: tf.Tensor1D;
  readonly column: (name: string) => tf.Tensor1D;
}

/**
 * Must be a sum over tokens (with any constant normaliser): a large batch is computed in parts whose losses add up.
 */
export type LossFunction = (tokens: TokenView) => tf.Scalar;

export interface TokenStatistics {
  /** Natural log at the batch's temperature, [completion][token]. */
  readonly logprobs: number[][];
  /** Nats, [completion][token]. */
  readonly entropies: number[][];
}

export interface LossResult extends TokenStatistics {
  readonly loss: number;
  /** By parameter name; the caller disposes them. */
  readonly gradients: Map<string, tf.Tensor>;
}

export interface ForwardOptions {
  /** Divides the logits; the temperature the completions were sampled at. Default 1. */
  readonly temperature?: number;
  /** Tokens computed at once; bounds memory. Default 8,192. */
  readonly max_rows?: number;
}

const DEFAULT_MAX_ROWS = 8192;

/**
 * The loss of a batch and the gradient of every parameter.
 * @throws RangeError if the batch is empty, has an empty list or an id outside the vocabulary, or a column does not fit
 */
export async function lossAndGradients(
  model: Model,
  batch: LossBatch,
  lossFunction: LossFunction,
  options: ForwardOptions = {},
): Promise<LossResult> {
  if (batch.prompt_ids.length === 0) throw new RangeError('the batch is empty');
  assertColumns(batch);
  const result: LossResult = { loss: 0, gradients: new Map(), logprobs: [], entropies: [] };
  let loss = 0;
  for (const part of splitBatch(batch, options.max_rows ?? DEFAULT_MAX_ROWS)) {
    const { value, gradients, statistics } = await computePart(model, part, lossFunction, options.temperature ?? 1);
    loss += value;
    addGradients(result.gradients, gradients);
    result.logprobs.push(...statistics.logprobs);
    result.entropies.push(...statistics.entropies);
  }
  return { ...result, loss };
}

/**
 * Log-probabilities and entropies of a batch's completion tokens, without gradients.
 * @throws RangeError if the batch has an empty list or an id outside the vocabulary
 */
export async function computeLogprobs(
  model: Model,
  batch: TokenBatch,
  options: ForwardOptions = {},
): Promise<TokenStatistics> {
  const out: TokenStatistics = { logprobs: [], entropies: [] };
  for (const part of splitBatch({ ...batch, columns: {} }, options.max_rows ?? DEFAULT_MAX_ROWS)) {
    const layout = createLayout(part, model.config);
    const values = tf.tidy(() =>
      model.backend.ops.tokenStatistics(maskedLogits(model, layout, part), layout.targets, options.temperature ?? 1),
    );
    const statistics = await toStatistics(values, part);
    values.dispose();
    out.logprobs.push(...statistics.logprobs);
    out.entropies.push(...statistics.entropies);
  }
  return out;
}

async function computePart(model: Model, batch: LossBatch, lossFunction: LossFunction, temperature: number) {
  const layout = createLayout(batch, model.config);
  let kept: tf.Tensor2D | undefined;
  const { value, grads } = tf.variableGrads(() => {
    const values = model.backend.ops.tokenStatistics(maskedLogits(model, layout, batch), layout.targets, temperature);
    kept = tf.keep(values.clone());
    return lossFunction(createView(values, batch));
  }, [...model.parameters.values()]);
  const gradients = new Map([...model.parameters].map(([name, variable]) => [name, grads[variable.name]!]));
  const statistics = await toStatistics(kept!, batch);
  const loss = (await value.data<'float32'>())[0]!;
  tf.dispose([value, kept!]);
  return { value: loss, gradients, statistics };
}

/** Logits of the tokens that could have been drawn, [K, V]: what is computed from them is of the policy that acted. */
function maskedLogits(model: Model, layout: Layout, { completion_ids, token_masks }: TokenBatch): tf.Tensor2D {
  return maskLogits(forward(model, layout), completion_ids, token_masks);
}

function createView(values: tf.Tensor2D, batch: LossBatch): TokenView {
  const [logprobs, entropies] = tf.unstack(values) as [tf.Tensor1D, tf.Tensor1D];
  return {
    logprobs,
    entropies,
    column: (name) => {
      const column = batch.columns[name];
      if (!column) throw new Error(`the batch has no column ${name}`);
      return tf.tensor1d(column.flat(), 'float32');
    },
  };
}

async function toStatistics(values: tf.Tensor2D, batch: TokenBatch): Promise<TokenStatistics> {
  const flat = await values.data<'float32'>();
  const count = values.shape[1];
  const split = (from: number): number[][] => {
    let at = from;
    return batch.completion_ids.map((completion) => [...flat.subarray(at, (at += completion.length))]);
  };
  return { logprobs: split(0), entropies: split(count) };
}

function addGradients(sums: Map<string, tf.Tensor>, gradients: ReadonlyMap<string, tf.Tensor>): void {
  for (const [name, gradient] of gradients) {
    const before = sums.get(name);
    sums.set(name, before ? tf.add(before, gradient) : gradient);
    if (before) tf.dispose([before, gradient]);
  }
}

function assertColumns(batch: LossBatch): void {
  for (const [name, column] of Object.entries(batch.columns)) {
    const fits =
      column.length === batch.completion_ids.length &&
      column.every((row, i) => row.length === batch.completion_ids[i]!.length);
    if (!fits) throw new RangeError(`column ${name} does not have one number for each completion token`);
  }
}

/** Cuts a batch into runs of at most `maxRows` tokens (or one example). */
function splitBatch(batch: LossBatch, maxRows: number): LossBatch[] {
  const cuts: number[] = [0];
  let rows = 0;
  batch.prompt_ids.forEach((prompt, i) => {
    const length = prompt.length + (batch.completion_ids[i]?.length ?? 0);
    if (rows > 0 && rows + length > maxRows) {
      cuts.push(i);
      rows = 0;
    }
    rows += length;
  });
  if (cuts.length === 1) return [batch];
  return cuts.map((from, i) => {
    const cut = <T>(list: readonly T[]): readonly T[] => list.slice(from, cuts[i + 1]);
    const columns = Object.fromEntries(Object.entries(batch.columns).map(([name, column]) => [name, cut(column)]));
    const token_masks = batch.token_masks && cut(batch.token_masks);
    return { prompt_ids: cut(batch.prompt_ids), completion_ids: cut(batch.completion_ids), token_masks, columns };
  });
}

/**
 * sum(weight * -logprob) / normaliser, the cross entropy of SFT, with the column `weights`. See objective.ts for REINFORCE's.
 */
export function weightedLoss(normaliser: number): LossFunction {
  return ({ logprobs, column }) => tf.div(tf.neg(tf.sum(tf.mul(column('weights'), logprobs))), normaliser);
}
