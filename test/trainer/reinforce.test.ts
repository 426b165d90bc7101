import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../clients/store/index.ts';
import { createClient } from '../../clients/ts/index.ts';
import { createRng } from '../../schemas/seed.ts';
import { createApp } from '../../server/app.ts';
import { createBackend } from '../../trainer/backend.ts';
import { tinyConfig } from '../../trainer/model/config.ts';
import { computeLogprobs } from '../../trainer/model/loss.ts';
import { cloneModel, createModel, readParameters } from '../../trainer/model/model.ts';
import { createOptimizer, DEFAULT_OPTIMIZER_SETTINGS } from '../../trainer/optimizer.ts';
import { createCompute } from '../../trainer/pool/compute.ts';
import { createModelPolicy } from '../../trainer/policy.ts';
import { drawTasks, learningRateFactor, reinforce, type ReinforceOptions } from '../../trainer/reinforce.ts';
import { trainTokenizer } from '../../trainer/tokenizer.ts';

describe('drawTasks', () => {
  const options = { seed: 1, families: ['pipeline', 'er'], levels: [1, 2], tasks_per_step: 400 } as const;

  test('training tasks only, of the families and levels asked for', () => {
    const ids = drawTasks(0, options);
    expect(new Set(ids).size).toBe(400);
    for (const id of ids) expect(id).toMatch(/^train\.(pipeline|er)\.[12]\.\d{7,10}$/);
  });

  test('a step draws the same tasks again; other steps and seeds draw others', () => {
    expect(drawTasks(5, options)).toEqual(drawTasks(5, options));
    const all = [...drawTasks(0, options), ...drawTasks(1, options), ...drawTasks(0, { ...options, seed: 2 })];
    expect(new Set(all).size).toBe(1200);
  });
});

test('the rate rises, holds, and falls towards 0', () => {
  const options = { steps: 10, warmup_steps: 2, decay_share: 0.4 };
  const rates = Array.from({ length: 10 }, (_, step) => learningRateFactor(step, options));
  [0.5, 1, 1, 1, 1, 1, 1, 0.75, 0.5, 0.25].forEach((rate, step) => {
    expect(rates[step]).toBeCloseTo(rate, 12);
  });
  expect(learningRateFactor(9, { steps: 10, warmup_steps: 0, decay_share: 0 })).toBe(1);
});

describe('one update in the environment', () => {
  const folder = mkdtempSync(join(tmpdir(), 'canvas-gym-reinforce-'));
  let store: Store;

  beforeAll(() => {
    store = openStore(join(folder, 'log.db'));
    for (const run_id of ['r', 'leash', 'none', 'unread']) store.createRun({ run_id, command: 'test', config: {} });
  });
  afterAll(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });

  /** Trains a tiny policy with these settings; answers it as it was and as it is. */
  const play = async (
    run_id: string,
    changed: Partial<ReinforceOptions>,
    limits: { max_prompt_tokens?: number } = {},
  ) => {
    const tokenizer = trainTokenizer([{ prompt: 'Boxes: A, B.', completion: '{"actions":[]}' }]);
    const config = { ...tinyConfig(tokenizer.vocab_size), num_hidden_layers: 1 };
    const model = createModel(config, await createBackend('wasm'), createRng(5n));
    const compute = await createCompute(model.backend, 1);
    const before = cloneModel(model);
    const app = createApp({});
    const client = createClient({ url: 'http://in.process', fetch: (request) => app.fetch(request) });
    const options: ReinforceOptions = {
      ...{ run_id, seed: 1, levels: [1], families: ['pipeline'], steps: 1, tasks_per_step: 4, group_size: 8 },
      ...{ temperature: 1, baseline: 'leave_one_out', normalise: false, length: 'fixed', length_divisor: 10 },
      ...{ policy_loss: 'reinforce', updates_per_batch: 1, clip_low: 0.2, clip_high: 0.2, entropy_bonus: 0 },
      ...{ kl_beta: 0, reward_kl_beta: 0, kl_estimator: 'k3', mask_truncated: false, truncation_penalty: 0 },
      ...{ warmup_steps: 0, decay_share: 0, max_kl: 2, reward: 'stronger', action_set: 'core', max_turns: 1 },
      ...changed,
    };
    const optimizer = createOptimizer(model, { ...DEFAULT_OPTIMIZER_SETTINGS, muon_lr: 1e-3, adamw_lr: 1e-4 });
    const createPolicy = async () => {
      const sampler = await compute.createSampler(model);
      // A prefix of random tokens is rarely JSON, so two tokens are enough for some to score and most not to.
      const act = createModelPolicy(sampler, tokenizer, { temperature: 1, max_new_tokens: 2, seed: 3n, ...limits });
      return { act, dispose: () => sampler.dispose() };
    };
    const state = { optimizer_step: 0, env_steps: 0, moving_means: [], skipped_in_a_row: 0 };
    const onStep = () => Promise.resolve();
    await reinforce(
      { compute, client, store, model, reference: before, optimizer, createPolicy, onStep },
      state,
      options,
    );
    return { before, model };
  };

  test('makes what scored above its group more likely and what scored below less', async () => {
    const { before, model } = await play('r', {});
    const episodes = store.episodes({ run_id: 'r' });
    expect(episodes).toHaveLength(32);
    const returns = episodes.map(({ episode_return }) => episode_return!);
    const meanOf = (group: string): number => {
      const own = returns.filter((_, i) => episodes[i]!.group_id === group);
      return own.reduce((sum, value) => sum + value, 0) / own.length;
    };
    const advantages = returns.map((value, i) => value - meanOf(episodes[i]!.group_id));
    expect(Math.max(...advantages)).toBeGreaterThan(0); // else this seed shows nothing
    const steps = episodes.map(({ episode_id }) => store.steps(episode_id)[0]!);
    const batch = {
      prompt_ids: steps.map((step) => step.prompt_ids!),
      completion_ids: steps.map((step) => step.completion_ids!),
    };
    const sum = (row: readonly number[]): number => row.reduce((total, value) => total + value, 0);
    const [old, now] = [await computeLogprobs(before, batch), await computeLogprobs(model, batch)];
    const gain = advantages.reduce((total, a, i) => total + a * (sum(now.logprobs[i]!) - sum(old.logprobs[i]!)), 0);
    expect(gain).toBeGreaterThan(0);
  });

  test('the KL is measured in every step where the loss has it, else in every tenth, and changes nothing', async () => {
    const { model: leashed } = await play('leash', { steps: 12, kl_beta: 1e-30 });
    const { model: free } = await play('none', { steps: 12 });
    const stepsOf = (run_id: string): number[] =>
      store.metric(run_id, 'reinforce', 'policy/kl_k3').map(({ optimizer_step }) => optimizer_step);
    expect(stepsOf('leash')).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(stepsOf('none')).toEqual([1, 11]);
    const [a, b] = await Promise.all([readParameters(leashed), readParameters(free)]);
    const differences = [...a].flatMap(([name, values]) => [...values].map((value, i) => value - b.get(name)![i]!));
    expect(differences.reduce((most, value) => Math.max(most, Math.abs(value)), 0)).toBeLessThan(1e-5); // a leash also computes rows that nothing pulls
  });

  test('prompts that do not fit the context are episodes without tokens: in the log, and nothing to learn from', async () => {
    const { before, model } = await play('unread', { steps: 2, kl_beta: 0.1 }, { max_prompt_tokens: 3 });
    const episodes = store.episodes({ run_id: 'unread' });
    expect(episodes).toHaveLength(64);
    expect(new Set(episodes.map(({ stop_reason }) => stop_reason))).toEqual(new Set(['max_tokens']));
    const [a, b] = await Promise.all([readParameters(before), readParameters(model)]);
    for (const [name, values] of a) expect(b.get(name)).toEqual(values);
  });
});
