/** A thread of the trainer: a backend of its own, and the same model as the main thread's. Does one job after another. */
import { isDeepStrictEqual } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import * as tf from '@tensorflow/tfjs-core';
import { createBackend, type BackendName } from '../backend.ts';
import { createLoss } from '../losses.ts';
import { computeLogprobs, lossAndGradients } from '../model/loss.ts';
import { buildModel, disposeModel, type Model } from '../model/model.ts';
import { orthogonalise } from '../optimizer.ts';
import { createSampler, type Sampler } from '../sample.ts';
import { createTokenizer, type Tokenizer } from '../tokenizer.ts';
import type { Answer, FromThread, JobName, Request, SharedModel, TokenizerFiles, ToThread } from './jobs.ts';
import { shareArrays, viewMatrices } from './shared-arrays.ts';

const backend = await createBackend(workerData as BackendName);
const samplers = new Map<number, Sampler>();
let model: Model | undefined;
let tokenizer: Tokenizer | undefined;

/** The thread's model with the weights that are in the shared memory now. */
function loadModel({ config, weights }: SharedModel): Model {
  const { views } = shareArrays(config, weights);
  if (model && isDeepStrictEqual(model.config, config)) {
    for (const [name, variable] of model.parameters) {
      const now = tf.tensor(views.get(name)!.slice(), variable.shape);
      variable.assign(now);
      now.dispose();
    }
    return model;
  }
  if (model) disposeModel(model);
  return (model = buildModel(config, backend, (spec) => views.get(spec.name)!.slice()));
}

/** The tokenizer of these files; the same one as long as they are equal, since grammars are kept with it. */
function loadTokenizer({ json, config_json }: TokenizerFiles): Tokenizer {
  if (!tokenizer || !isDeepStrictEqual(tokenizer.json, json)) tokenizer = createTokenizer(json, config_json);
  return tokenizer;
}

const JOBS: { [N in JobName]: (request: Request<N>) => Answer<N> | Promise<Answer<N>> } = {
  gradients: async ({ model: shared, batch, loss, options, gradients: memory }) => {
    const { gradients, ...rest } = await lossAndGradients(loadModel(shared), batch, createLoss(loss), options);
    const { views } = shareArrays(shared.config, memory);
    for (const [name, gradient] of gradients) views.get(name)!.set(await gradient.data<'float32'>());
    tf.dispose([...gradients.values()]);
    return rest;
  },
  logprobs: ({ model: shared, batch, options }) => computeLogprobs(loadModel(shared), batch, options),
  orthogonalise: async ({ shapes, iterations, matrices }) => {
    for (const { view, shape } of viewMatrices(shapes, matrices)) {
      const result = tf.tidy(() => orthogonalise(tf.tensor2d(view.slice(), shape), iterations, backend.ops));
      view.set(await result.data<'float32'>());
      result.dispose();
    }
    return undefined;
  },
  pack: ({ sampler, model: { config, weights }, tokenizer: files }) => {
    const values = shareArrays(config, weights).views;
    samplers.set(sampler, createSampler(backend.heap, config, values, files && loadTokenizer(files)));
    return undefined;
  },
  drop: ({ sampler }) => {
    samplers.get(sampler)?.dispose();
    samplers.delete(sampler);
    return undefined;
  },
  sample: ({ sampler, prompts, settings, seed, firstRow }) =>
    samplers.get(sampler)!.sample(prompts, settings, seed, firstRow),
};

async function perform<N extends JobName>(name: N, request: Request<N>): Promise<Answer<N>> {
  return JOBS[name](request);
}

function send(message: FromThread): void {
  parentPort!.postMessage(message);
}

let last = Promise.resolve();
parentPort!.on('message', ({ id, name, request }: ToThread) => {
  last = last
    .then(() => perform(name, request))
    .then(
      (answer) => {
        send({ id, answer });
      },
      (error: unknown) => {
        send({ id, error });
      },
    );
});
send('ready');
