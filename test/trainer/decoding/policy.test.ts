/** A policy of random weights with a grammar, stop strings and a token limit: what it says, keeps and can be trained on. */
import { beforeAll, describe, expect, test } from 'vitest';
import { createClient, type Client } from '../../../clients/ts/index.ts';
import { createRng } from '../../../schemas/seed.ts';
import { createApp } from '../../../server/app.ts';
import { createBackend, type BackendName } from '../../../trainer/backend.ts';
import { tinyConfig } from '../../../trainer/model/config.ts';
import { computeLogprobs, lossAndGradients } from '../../../trainer/model/loss.ts';
import { createModel, readParameters, type Model } from '../../../trainer/model/model.ts';
import { createObjective } from '../../../trainer/objective.ts';
import { createOptimizer, DEFAULT_OPTIMIZER_SETTINGS } from '../../../trainer/optimizer.ts';
import { createCompute } from '../../../trainer/pool/compute.ts';
import { createModelPolicy, type PolicyOptions } from '../../../trainer/policy.ts';
import { rollout, type Completion, type Policy, type RolloutOptions } from '../../../trainer/rollout.ts';
import { createSampler } from '../../../trainer/sample.ts';
import { trainTokenizer } from '../../../trainer/tokenizer.ts';
import { updatePolicy, type UpdateOptions } from '../../../trainer/update.ts';
import { largestDifference } from '../model-fixture.ts';

const GRAMMAR = { action_set: 'core', max_actions: 40 } as const;
const OPTIONS = { temperature: 1, max_new_tokens: 300, seed: 3n };
const PLAY = { reward: 'graded', action_set: 'core', max_turns: 1, group_size: 8 } as const;
const TASKS = ['train.pipeline.1.1', 'train.er.1.2'];

const tokenizer = trainTokenizer([{ prompt: 'Boxes: cat, dog.', completion: '{"actions":[]}' }]);
let client: Client;
beforeAll(() => {
  const app = createApp({});
  client = createClient({ url: 'http://in.process', fetch: (request) => app.fetch(request) });
});

async function createRandomModel(backend: BackendName): Promise<Model> {
  const config = {
    ...tinyConfig(tokenizer.vocab_size),
    num_hidden_layers: 1,
    hidden_size: 16,
    intermediate_size: 16,
    head_dim: 8,
  };
  return createModel(config, await createBackend(backend), createRng(5n));
}

async function createPolicy(model: Model, options: Partial<PolicyOptions>): Promise<Policy> {
  const sampler = createSampler(model.backend.heap, model.config, await readParameters(model), tokenizer);
  return createModelPolicy(sampler, tokenizer, { ...OPTIONS, ...options });
}

const toBatch = (completions: readonly Completion[]) => ({
  prompt_ids: completions.map(({ prompt_ids }) => prompt_ids),
  completion_ids: completions.map(({ completion_ids }) => completion_ids),
  token_masks: completions.map(({ token_masks }) => token_masks),
});

describe('with the grammar', () => {
  test('random weights write valid completions only, and what the limit cuts is said to the server and scored as cut', async () => {
    const policy = await createPolicy(await createRandomModel('wasm'), { grammar: GRAMMAR });
    const played = await rollout(client, policy, TASKS, PLAY);
    const turns = played.map((trajectory) => ({ ...trajectory.turns[0]!, stop_reason: trajectory.stop_reason }));
    const [whole, cut] = [
      turns.filter(({ completion }) => completion.finish_reason === 'stop'),
      turns.filter(({ completion }) => completion.finish_reason === 'length'),
    ];
    expect([whole.length > 1, cut.length > 1]).toEqual([true, true]);
    for (const { info, stop_reason, next_observation } of whole) {
      expect([info.parse!.outcome, stop_reason]).toEqual(['strict', 'submitted']);
      expect(next_observation.reward_components['schema']).toBe(1);
    }
    for (const { info, stop_reason } of cut) {
      expect(info.parse!.outcome).not.toBe('strict');
      expect(stop_reason).toBe('max_tokens');
    }
  });

  test.each(['wasm', 'cpu'] as const)(
    'sampled log-probabilities are those the loss recomputes on %s, with gradients that follow the masked policy',
    async (backend) => {
      const model = await createRandomModel(backend);
      const policy = await createPolicy(model, { grammar: GRAMMAR, top_p: 0.9, temperature: 0.8, max_new_tokens: 12 });
      const played = await rollout(client, policy, TASKS.slice(0, 1), { ...PLAY, group_size: 2 });
      const completions = played.map(({ turns }) => turns[0]!.completion);
      const batch = toBatch(completions);
      const { logprobs } = await computeLogprobs(model, batch, { temperature: 0.8, max_rows: 30 });
      completions.forEach(({ sampled_logprobs }, i) => {
        expect(largestDifference(sampled_logprobs, logprobs[i]!)).toBeLessThan(1e-4);
      });
      const column = completions.map(({ completion_ids }) => completion_ids.map(() => 1));
      const columns = { weights: column, advantages: column, sampled_logprobs: logprobs, reference_logprobs: logprobs };
      const objective = createObjective({
        ...{ policy_loss: 'importance', clip_low: 0.2, clip_high: 0.2 },
        ...{ kl_beta: 0, kl_estimator: 'k3', entropy_bonus: 0 },
      });
      const result = await lossAndGradients(model, { ...batch, columns }, objective, { temperature: 0.8 });
      expect(result.loss).toBeCloseTo(-column.flat().length, 3); // every ratio is 1
      for (const gradient of result.gradients.values()) expect(Number.isFinite(gradient.dataSync()[0])).toBe(true);
    },
  );
});

test('threads write the same under a grammar, and recompute its log-probabilities', async () => {
  const model = await createRandomModel('wasm');
  const compute = await createCompute(model.backend, 2);
  const sampler = await compute.createSampler(model, tokenizer);
  const options = { ...OPTIONS, grammar: GRAMMAR, max_new_tokens: 30 };
  const shared = createModelPolicy(sampler, tokenizer, options);
  const played = await rollout(client, shared, TASKS, { ...PLAY, group_size: 2 });
  const alone = await rollout(client, await createPolicy(model, options), TASKS, { ...PLAY, group_size: 2 });
  const completionsOf = (all: typeof played): Completion[] => all.map(({ turns }) => turns[0]!.completion);
  expect(completionsOf(played).map(({ text }) => text)).toEqual(completionsOf(alone).map(({ text }) => text));
  const { logprobs } = await compute.computeLogprobs(model, toBatch(completionsOf(played)));
  await compute.close();
  const sampled = completionsOf(played).flatMap(({ sampled_logprobs }) => sampled_logprobs);
  expect(largestDifference(sampled, logprobs.flat())).toBeLessThan(1e-4);
});

test('an update from cut and constrained samples begins at the policy that acted', async () => {
  const model = await createRandomModel('wasm');
  const compute = await createCompute(model.backend, 2);
  const policy = await createPolicy(model, { grammar: GRAMMAR, top_k: 20, max_new_tokens: 20 });
  const played = await rollout(client, policy, TASKS, { ...PLAY, group_size: 2 });
  const sampled = played.map(({ turns }) => turns.map(({ completion }) => completion.sampled_logprobs));
  const advantages = played.map((_, e) => [e % 2 ? -1 : 1]);
  const optimizer = createOptimizer(model, DEFAULT_OPTIMIZER_SETTINGS);
  const options: UpdateOptions & Pick<RolloutOptions, 'opening'> = {
    opening: () => '', // what no thread could be sent
    ...{ policy_loss: 'ppo_clip', clip_low: 0.2, clip_high: 0.2, kl_beta: 0.1, kl_estimator: 'k3', entropy_bonus: 0 },
    ...{ temperature: 1, updates_per_batch: 2, length: 'fixed', length_divisor: 8, mask_truncated: false },
  };
  const { metrics } = await updatePolicy({ compute, model, optimizer }, played, advantages, sampled, options, 1);
  await compute.close();
  optimizer.dispose();
  expect(metrics['policy/logprob_difference']).toBeLessThan(1e-4);
  expect(metrics['policy/kl_k3']).toBeLessThan(1e-6);
  expect(metrics['policy/ratio']).toBeGreaterThan(0); // the second update has moved on
});

describe('a stop string', () => {
  test('ends the completion as a whole one; the text ends before it, the ids that were sampled are all kept', async () => {
    const policy = await createPolicy(await createRandomModel('wasm'), { stop: ['",'], grammar: GRAMMAR });
    const [trajectory] = await rollout(client, policy, TASKS.slice(0, 1), { ...PLAY, group_size: 1 });
    const { completion } = trajectory!.turns[0]!;
    const written = tokenizer.decode(completion.completion_ids);
    expect(completion.finish_reason).toBe('stop');
    expect(written).toContain('",');
    expect(completion.text).toBe(written.slice(0, written.indexOf('",')));
    expect(completion.sampled_logprobs).toHaveLength(completion.completion_ids.length);
  });
});

test('the ids that are kept and trained on were sampled: another spelling of a text stays as it is', async () => {
  const policy = await createPolicy(await createRandomModel('wasm'), { grammar: GRAMMAR });
  const played = await rollout(client, policy, TASKS, PLAY);
  const completions = played.map(({ turns }) => turns[0]!.completion);
  const respelled = completions.filter(({ text, completion_ids }) => {
    return tokenizer.encode(text).join() !== completion_ids.filter((id) => id !== tokenizer.eos_id).join();
  });
  expect(respelled.length).toBeGreaterThan(0); // encoding the text again would have given other ids
  for (const { text, completion_ids } of completions) expect(tokenizer.decode(completion_ids)).toBe(text);
});

test('a completion cut where its JSON is whole is no whole answer', async () => {
  const text =
    '{"actions":[{"type":"create_shape","id":"a","shape":"rectangle","x":0,"y":0,"w":100,"h":100,"text":"a"}]}';
  const say = (finish_reason: Completion['finish_reason']): Policy => {
    return (observations) =>
      observations.map(() => ({ text, finish_reason, prompt_ids: [], completion_ids: [], sampled_logprobs: [] }));
  };
  const [whole] = await rollout(client, say('stop'), TASKS.slice(0, 1), { ...PLAY, group_size: 1 });
  const [cut] = await rollout(client, say('length'), TASKS.slice(0, 1), { ...PLAY, group_size: 1 });
  expect([cut!.truncated, cut!.terminated, cut!.stop_reason]).toEqual([true, false, 'max_tokens']);
  expect([whole!.truncated, whole!.terminated, whole!.stop_reason]).toEqual([false, true, 'submitted']);
  expect(cut!.episode_return).toBeLessThan(0.6 * whole!.episode_return);
});
