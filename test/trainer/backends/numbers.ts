/** One set of numbers that every backend must give: a small model's forward, gradients, samples and updates. */
import { createRng, hash64 } from '../../../schemas/seed.ts';
import type { Backend } from '../../../trainer/backend.ts';
import type { ModelConfig } from '../../../trainer/model/config.ts';
import { createLayout } from '../../../trainer/model/layout.ts';
import { computeLogprobs, lossAndGradients, weightedLoss } from '../../../trainer/model/loss.ts';
import { createModel, disposeModel, forward, readParameters, type Model } from '../../../trainer/model/model.ts';
import { createOptimizer } from '../../../trainer/optimizer.ts';
import type { Trajectory } from '../../../trainer/rollout.ts';
import { createSampler } from '../../../trainer/sample.ts';
import { createCompute } from '../../../trainer/pool/compute.ts';
import { updatePolicy, type UpdateOptions } from '../../../trainer/update.ts';
import { createLossBatch, largestDifference } from '../model-fixture.ts';
import * as tf from '@tensorflow/tfjs-core';

/** Plain lists, so that they travel between processes. */
export interface Numbers {
  readonly device: string;
  /** [K V], of prompts that share rows and of different lengths. */
  readonly logits: readonly number[];
  readonly loss: number;
  readonly gradients: Readonly<Record<string, readonly number[]>>;
  /** Largest difference of a sampled token's log-probability from the recomputed one, nats. */
  readonly logprob_difference: number;
  /** Losses and last weights of three steps of SFT. */
  readonly sft_losses: readonly number[];
  readonly sft_weights: Readonly<Record<string, readonly number[]>>;
  readonly reinforce_weights: Readonly<Record<string, readonly number[]>>;
}

/** Grouped-query attention, and sizes at which each backend's kernels have whole vectors and rests. */
const CONFIG: ModelConfig = {
  ...{ vocab_size: 90, hidden_size: 64, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2 },
  ...{ head_dim: 16, intermediate_size: 96, rms_norm_eps: 1e-5, rope_theta: 10_000, max_position_embeddings: 64 },
  initializer_range: 0.1,
};
const TEMPERATURE = 0.8;

const create = (backend: Backend): Model => createModel(CONFIG, backend, createRng(hash64('backends')));

export async function computeNumbers(backend: Backend): Promise<Numbers> {
  const model = create(backend);
  const batch = createLossBatch();
  const logits = tf.tidy(() => forward(model, createLayout(batch, CONFIG)));
  const { loss, gradients } = await lossAndGradients(model, batch, weightedLoss(10));
  const numbers = {
    ...{ device: backend.device, logits: await toList(logits), loss, gradients: await toLists(gradients) },
    ...(await sampleAndUpdate(backend)),
    ...(await trainThreeSteps(backend)),
  };
  tf.dispose([logits, ...gradients.values()]);
  disposeModel(model);
  return numbers;
}

/** Four episodes of each of two prompts, and one update from them. */
async function sampleAndUpdate(backend: Backend) {
  const model = create(backend);
  const optimizer = createOptimizer(model);
  const prompts = [0, 0, 0, 0, 1, 1, 1, 1].map(
    (i) =>
      [
        [3, 1, 4, 1, 5],
        [9, 2, 6],
      ][i]!,
  );
  const sampler = createSampler(backend.heap, CONFIG, await readParameters(model));
  const sampled = sampler.sample(prompts, { max_new_tokens: 12, temperature: TEMPERATURE, eos_id: 0 }, 7n);
  sampler.dispose();
  const ids = sampled.map(({ completion_ids }) => completion_ids);
  const { logprobs } = await computeLogprobs(model, { prompt_ids: prompts, completion_ids: ids }, OF_SAMPLING);
  const difference = largestDifference(logprobs.flat(), sampled.map(({ sampled_logprobs }) => sampled_logprobs).flat());
  const episodes = sampled.map((completion, i) => ({
    turns: [{ completion: { ...completion, text: '', prompt_ids: prompts[i]! } }],
  })) as unknown as Trajectory[];
  const advantages = prompts.map((_, i) => [(i % 4) - 1.5]);
  const reference = logprobs.map((row) => [row.map((value) => value - 0.1)]);
  await updatePolicy(
    { compute: await createCompute(backend, 1), model, optimizer },
    episodes,
    advantages,
    reference,
    OBJECTIVE,
    1,
  );
  const reinforce_weights = await weightsOf(model);
  optimizer.dispose();
  disposeModel(model);
  return { logprob_difference: difference, reinforce_weights };
}

const OF_SAMPLING = { temperature: TEMPERATURE };
const OBJECTIVE: UpdateOptions = {
  ...{ policy_loss: 'ppo_clip', clip_low: 0.2, clip_high: 0.2, kl_beta: 0.05, kl_estimator: 'k3', entropy_bonus: 0.01 },
  ...{ updates_per_batch: 1, length: 'fixed', length_divisor: 12, mask_truncated: false, temperature: TEMPERATURE },
};

async function trainThreeSteps(backend: Backend) {
  const model = create(backend);
  const optimizer = createOptimizer(model);
  const sft_losses: number[] = [];
  for (const seed of [1, 2, 3]) {
    const { loss, gradients } = await lossAndGradients(model, createLossBatch(seed), weightedLoss(10));
    await optimizer.apply(gradients, 1);
    sft_losses.push(loss);
  }
  const sft_weights = await weightsOf(model);
  optimizer.dispose();
  disposeModel(model);
  return { sft_losses, sft_weights };
}

const weightsOf = (model: Model): Promise<Record<string, number[]>> => toLists(model.parameters);

const toList = async (tensor: tf.Tensor): Promise<number[]> => [...(await tensor.data<'float32'>())];

async function toLists(tensors: ReadonlyMap<string, tf.Tensor>): Promise<Record<string, number[]>> {
  const lists: Record<string, number[]> = {};
  for (const [name, tensor] of tensors) lists[name] = await toList(tensor);
  return lists;
}
