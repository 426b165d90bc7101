/** Updates of a small policy from episodes it sampled itself. */
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createBackend } from '../../trainer/backend.ts';
import type { Backend } from '../../trainer/backend.ts';
import { computeLogprobs } from '../../trainer/model/loss.ts';
import { readParameters, type Model } from '../../trainer/model/model.ts';
import { createOptimizer, DEFAULT_OPTIMIZER_SETTINGS } from '../../trainer/optimizer.ts';
import type { Trajectory } from '../../trainer/rollout.ts';
import { createCompute } from '../../trainer/pool/compute.ts';
import { createSampler } from '../../trainer/sample.ts';
import { updatePolicy, type UpdateOptions } from '../../trainer/update.ts';
import { createSmallModel } from './model-fixture.ts';

const OPTIONS: UpdateOptions = {
  ...{ policy_loss: 'reinforce', clip_low: 0.2, clip_high: 0.2, kl_beta: 0, kl_estimator: 'k3', entropy_bonus: 0 },
  ...{ temperature: 1, updates_per_batch: 1, length: 'fixed', length_divisor: 8, mask_truncated: false },
};
const PROMPT = [3, 1, 4, 1, 5];
const ADVANTAGES = [[1], [-1], [0], [0.5]];

let wasm: Backend;
beforeAll(async () => {
  wasm = await createBackend('wasm');
});

/** Four episodes of one turn each, sampled from the model. */
async function play(model: Model): Promise<Trajectory[]> {
  const sampler = createSampler(model.backend.heap, model.config, await readParameters(model));
  const prompts = ADVANTAGES.map(() => PROMPT);
  const sampled = sampler.sample(prompts, { max_new_tokens: 8, temperature: 1, eos_id: 0 }, 7n);
  sampler.dispose();
  return sampled.map((completion) => ({
    turns: [{ completion: { ...completion, text: '', prompt_ids: PROMPT } }],
  })) as unknown as Trajectory[];
}

async function update(options: Partial<UpdateOptions>, trajectories?: Trajectory[]) {
  await tf.setBackend(wasm.name);
  const model = await createSmallModel(wasm);
  const optimizer = createOptimizer(model, { ...DEFAULT_OPTIMIZER_SETTINGS, muon_lr: 0.02, adamw_lr: 0.02 });
  const episodes = trajectories ?? (await play(model));
  const ids = episodes.map(({ turns }) => turns[0]!.completion.completion_ids);
  const reference = episodes.map(({ turns }) => [turns[0]!.completion.sampled_logprobs]);
  const result = await updatePolicy(
    { compute: await createCompute(wasm, 1), model, optimizer },
    episodes,
    ADVANTAGES,
    reference,
    { ...OPTIONS, ...options },
    1,
  );
  const { logprobs } = await computeLogprobs(model, { prompt_ids: ids.map(() => PROMPT), completion_ids: ids });
  const gains = logprobs.map((row, i) => sum(row) - sum(episodes[i]!.turns[0]!.completion.sampled_logprobs));
  return { ...result, episodes, gains };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

test.each(['reinforce', 'importance', 'ppo_clip'] as const)(
  '%s makes what has an advantage more likely and what has none the less',
  async (policy_loss) => {
    const { gains, metrics, skipped } = await update({ policy_loss });
    expect(gains[0]).toBeGreaterThan(0.01);
    expect(gains[1]).toBeLessThan(-0.01);
    expect(skipped).toBe(false);
    expect(metrics['policy/logprob_difference']).toBeLessThan(1e-4);
  },
);

test('in the first update of a batch all policy losses have the same gradient', async () => {
  const norms = await Promise.all(
    (['reinforce', 'importance', 'ppo_clip'] as const).map(async (policy_loss) => {
      const { metrics } = await update({ policy_loss });
      return metrics['optim/grad_norm']!;
    }),
  );
  expect(norms[1]! / norms[0]!).toBeCloseTo(1, 4);
  expect(norms[2]! / norms[0]!).toBeCloseTo(1, 4);
});

describe('several updates a batch', () => {
  test('go on from where the first one led, and clipping holds them back', async () => {
    const once = await update({ policy_loss: 'ppo_clip' });
    const free = await update({ policy_loss: 'importance', updates_per_batch: 4 });
    const clipped = await update({ policy_loss: 'ppo_clip', updates_per_batch: 4 });
    expect(once.metrics).not.toHaveProperty('policy/ratio');
    expect(clipped.metrics['policy/clip_share']).toBeGreaterThan(0);
    expect(free.metrics).toHaveProperty('policy/ratio');
    expect(free.metrics).not.toHaveProperty('policy/clip_share');
    expect(free.gains[1]).toBeLessThan(once.gains[1]!);
    expect(clipped.gains[1]).toBeGreaterThan(free.gains[1]!);
  });
});

describe('completions that ran into the token limit', () => {
  test('are left out of the loss where that is asked for: cut ones get no likelier', async () => {
    const cut = (episodes: Trajectory[]): Trajectory[] =>
      episodes.map(({ turns, ...rest }, e) => ({
        ...rest,
        turns: turns.map((turn) => ({
          ...turn,
          completion: { ...turn.completion, finish_reason: e === 1 ? ('stop' as const) : ('length' as const) },
        })),
      }));
    const { episodes } = await update({});
    const kept = await update({}, cut(episodes));
    const masked = await update({ mask_truncated: true }, cut(episodes));
    expect(kept.gains[0]).toBeGreaterThan(0.01);
    expect(masked.gains[0]).toBeLessThan(kept.gains[0]!);
    expect(masked.gains[1]).toBeLessThan(-0.01);
  });

  test('and where all are, there is no update', async () => {
    const { episodes } = await update({});
    for (const { turns } of episodes) turns[0]!.completion.finish_reason = 'length';
    const { gains, metrics } = await update({ mask_truncated: true }, episodes);
    expect(metrics).toEqual({});
    expect(Math.max(...gains.map(Math.abs))).toBeLessThan(1e-4);
  });
});

test('without a leash, episodes without an advantage are not computed; with one they are', async () => {
  const free = await update({});
  const leashed = await update({ kl_beta: 0.1 });
  const entropies = { free: free.metrics['policy/entropy'], leashed: leashed.metrics['policy/entropy'] };
  expect(entropies.free).not.toBe(entropies.leashed); // means over three and over four episodes
  expect(leashed.metrics['loss/kl']).toBeCloseTo(0, 5);
});
