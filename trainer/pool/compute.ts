/**
 * What computes: this thread, and others beside it that each take a part of a batch (data parallelism). Weights go out and
 * gradients come back through shared memory; their sum is the gradient of the whole batch, since a loss is a sum over
 * tokens. Of the optimizer, Muon's products are shared out too.
 *
 * Parts are summed in a fixed order, so one number of threads always gives the same bytes; another one rounds differently.
 * Left out: threads for backends that have their own (tfjs-node, GPUs). Those sample in threads, and train in this one.
 */
import { availableParallelism } from 'node:os';
import * as tf from '@tensorflow/tfjs-core';
import type { Backend } from '../backend.ts';
import { createLoss, type LossSpec } from '../losses.ts';
import type { TokenBatch } from '../model/layout.ts';
import * as local from '../model/loss.ts';
import type { ForwardOptions, LossBatch, LossResult, TokenStatistics } from '../model/loss.ts';
import { readParameters, type Model } from '../model/model.ts';
import type { Ops } from '../model/ops.ts';
import { orthogonalise, type Orthogonalise } from '../optimizer.ts';
import { createSampler, type SampledCompletion, type SampleSettings } from '../sample.ts';
import type { Tokenizer } from '../tokenizer.ts';
import type { SharedModel } from './jobs.ts';
import { balance, cutBetweenRuns, shareOut } from './partition.ts';
import { allocateMatrices, shareArrays, viewMatrices, type SharedArrays } from './shared-arrays.ts';
import { startThreads, type Threads } from './threads.ts';

export interface Compute {
  readonly backend: Backend;
  /** Threads that share the work, this one included. */
  readonly threads: number;
  /** See model/loss.ts. The caller disposes the gradients. */
  lossAndGradients(model: Model, batch: LossBatch, loss: LossSpec, options?: ForwardOptions): Promise<LossResult>;
  computeLogprobs(model: Model, batch: TokenBatch, options?: ForwardOptions): Promise<TokenStatistics>;
  /** Muon's products, see optimizer.ts; each matrix on one thread, so that the number of threads changes no bit. */
  readonly orthogonalise: Orthogonalise;
  /** Packs the weights as they are now, on every thread. Stop strings and grammars need the tokenizer. */
  createSampler(model: Model, tokenizer?: Tokenizer): Promise<ParallelSampler>;
  close(): Promise<void>;
}

/** See Sampler in sample.ts: row i draws from the stream (seed, i) on whatever thread it is sampled. */
export interface ParallelSampler {
  sample(prompts: readonly (readonly number[])[], settings: SampleSettings, seed: bigint): Promise<SampledCompletion[]>;
  dispose(): Promise<void>;
}

/** Most threads that are taken by themselves: a step of a tiny model has no work for more. */
const MOST_THREADS = 8;

/** One thread a core. */
export function defaultThreads(): number {
  return Math.min(MOST_THREADS, availableParallelism());
}

/** @throws RangeError unless there is at least one thread; Error where one does not start */
export async function createCompute(backend: Backend, threads: number): Promise<Compute> {
  if (!(threads >= 1)) throw new RangeError(`${threads} threads; at least 1 computes`);
  const trains = backend.name === 'wasm' || backend.name === 'cpu';
  const others = await startThreads(threads - 1, trains ? backend.name : 'wasm');
  const trainers = trains ? others.count : 0;
  return {
    ...{ backend, threads },
    lossAndGradients: (model, batch, loss, options = {}) =>
      lossAndGradients(others, trainers, model, batch, loss, options),
    computeLogprobs: (model, batch, options = {}) => computeLogprobs(others, trainers, model, batch, options),
    orthogonalise: (directions, iterations) => orthogonaliseAll(others, trainers, backend.ops, directions, iterations),
    createSampler: (model, tokenizer) => createParallelSampler(others, model, tokenizer),
    close: () => others.close(),
  };
}

async function lossAndGradients(
  others: Threads,
  trainers: number,
  model: Model,
  batch: LossBatch,
  loss: LossSpec,
  options: ForwardOptions,
): Promise<LossResult> {
  const [own, ...rest] = shareOut(batch.prompt_ids, batch.completion_ids, trainers + 1);
  if (own === undefined || rest.length === 0) return local.lossAndGradients(model, batch, createLoss(loss), options);
  const shared = await shareModel(model);
  const memories = rest.map(() => shareArrays(model.config));
  const asked = rest.map((indices, thread) =>
    others.ask(thread, 'gradients', {
      ...{ model: shared, batch: pickExamples(batch, indices), loss, options },
      gradients: memories[thread]!.memory,
    }),
  );
  const here = local.lossAndGradients(model, pickExamples(batch, own), createLoss(loss), options);
  const parts = await allOf<TokenStatistics & { loss: number }>([here, ...asked]);
  const { gradients } = await here;
  for (const memory of memories) addShared(gradients, memory);
  return {
    ...putTogether([own, ...rest], parts, batch.completion_ids.length),
    loss: parts.reduce((sum, part) => sum + part.loss, 0),
    gradients,
  };
}

async function computeLogprobs(
  others: Threads,
  trainers: number,
  model: Model,
  batch: TokenBatch,
  options: ForwardOptions,
): Promise<TokenStatistics> {
  const [own, ...rest] = shareOut(batch.prompt_ids, batch.completion_ids, trainers + 1);
  if (own === undefined || rest.length === 0) return local.computeLogprobs(model, batch, options);
  const shared = await shareModel(model);
  const whole = { ...batch, columns: {} };
  const asked = rest.map((indices, thread) =>
    others.ask(thread, 'logprobs', { model: shared, batch: pickExamples(whole, indices), options }),
  );
  const parts = await allOf([local.computeLogprobs(model, pickExamples(whole, own), options), ...asked]);
  return putTogether([own, ...rest], parts, batch.completion_ids.length);
}

async function orthogonaliseAll(
  others: Threads,
  trainers: number,
  ops: Ops,
  directions: readonly tf.Tensor2D[],
  iterations: number,
): Promise<tf.Tensor2D[]> {
  const costs = directions.map(({ shape: [rows, columns] }) => rows * columns * Math.min(rows, columns));
  const [own, ...rest] = balance(costs, trainers + 1);
  const jobs = await Promise.all(rest.map((share) => toMatrices(share.map((i) => directions[i]!))));
  const asked = jobs.map(({ shapes, matrices }, thread) =>
    others.ask(thread, 'orthogonalise', { shapes, iterations, matrices }),
  );
  const here = async (): Promise<tf.Tensor2D[]> =>
    Promise.resolve(own!.map((i) => tf.tidy(() => orthogonalise(directions[i]!, iterations, ops))));
  const [mine] = await allOf([here(), ...asked]);
  const results = new Array<tf.Tensor2D>(directions.length);
  own!.forEach((i, place) => (results[i] = mine![place]!));
  rest.forEach((share, thread) => {
    const views = viewMatrices(jobs[thread]!.shapes, jobs[thread]!.matrices);
    share.forEach((i, place) => (results[i] = tf.tensor2d(views[place]!.view.slice(), views[place]!.shape)));
  });
  return results;
}

/** Matrices in shared memory, as a job takes them. */
async function toMatrices(tensors: readonly tf.Tensor2D[]) {
  const shapes = tensors.map(({ shape }) => shape);
  const matrices = allocateMatrices(shapes);
  for (const [i, { view }] of viewMatrices(shapes, matrices).entries()) view.set(await tensors[i]!.data<'float32'>());
  return { shapes, matrices };
}

let lastSampler = 0;

async function createParallelSampler(others: Threads, model: Model, tokenizer?: Tokenizer): Promise<ParallelSampler> {
  const sampler = ++lastSampler;
  const values = await readParameters(model);
  const shared = shareValues(model, values);
  const own = createSampler(model.backend.heap, model.config, values, tokenizer);
  const text = tokenizer && { json: tokenizer.json, config_json: tokenizer.config_json };
  const each = Array.from({ length: others.count }, (_, thread) => thread);
  await allOf(each.map((thread) => others.ask(thread, 'pack', { sampler, model: shared, tokenizer: text })));
  return {
    sample: async (prompts, settings, seed) => {
      const [mine, ...rest] = cutBetweenRuns(prompts, others.count + 1);
      if (mine === undefined) return [];
      const asked = rest.map(({ from, to }, thread) =>
        others.ask(thread, 'sample', { sampler, prompts: prompts.slice(from, to), settings, seed, firstRow: from }),
      );
      const sampleOwn = async (): Promise<SampledCompletion[]> =>
        Promise.resolve(own.sample(prompts.slice(mine.from, mine.to), settings, seed));
      return (await allOf([sampleOwn(), ...asked])).flat();
    },
    dispose: async () => {
      own.dispose();
      await allOf(each.map((thread) => others.ask(thread, 'drop', { sampler })));
    },
  };
}

/** The weights of now, where all threads can read them. */
async function shareModel(model: Model): Promise<SharedModel> {
  return shareValues(model, await readParameters(model));
}

function shareValues({ config }: Model, values: ReadonlyMap<string, Float32Array>): SharedModel {
  const { memory, views } = shareArrays(config);
  for (const [name, view] of views) view.set(values.get(name)!);
  return { config, weights: memory };
}

function addShared(gradients: Map<string, tf.Tensor>, { views }: SharedArrays): void {
  for (const [name, before] of gradients) {
    const more = tf.tensor(views.get(name)!.slice(), before.shape);
    gradients.set(name, tf.add(before, more));
    tf.dispose([before, more]);
  }
}

function pickExamples(batch: LossBatch, indices: readonly number[]): LossBatch {
  const pick = <T>(list: readonly T[]): T[] => indices.map((i) => list[i]!);
  return {
    prompt_ids: pick(batch.prompt_ids),
    completion_ids: pick(batch.completion_ids),
    token_masks: batch.token_masks && pick(batch.token_masks),
    columns: Object.fromEntries(Object.entries(batch.columns).map(([name, column]) => [name, pick(column)])),
  };
}

/** The statistics of all parts in the order of the batch. */
function putTogether(
  indices: readonly (readonly number[])[],
  parts: readonly TokenStatistics[],
  count: number,
): TokenStatistics {
  const logprobs = new Array<number[]>(count);
  const entropies = new Array<number[]>(count);
  parts.forEach((part, p) => {
    indices[p]!.forEach((example, i) => {
      logprobs[example] = part.logprobs[i]!;
      entropies[example] = part.entropies[i]!;
    });
  });
  return { logprobs, entropies };
}

/** As Promise.all, but nothing is still at work when it rejects. */
async function allOf<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
