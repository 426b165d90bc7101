/**
 * The stages of a run against a real environment in this process: what they leave behind, and that a run which was
 * stopped and taken up again ends in the same bytes as one that was not.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../../clients/store/index.ts';
import { createClient } from '../../clients/ts/index.ts';
import { createApp } from '../../server/app.ts';
import { createBackend } from '../../trainer/backend.ts';
import { loadCheckpoint, saveCheckpoint } from '../../trainer/checkpoint.ts';
import { readDataset } from '../../trainer/dataset.ts';
import { disposeModel } from '../../trainer/model/model.ts';
import { parameterSpecs } from '../../trainer/model/parameters.ts';
import { decodeSafetensors } from '../../trainer/model/safetensors.ts';
import { createOptimizer } from '../../trainer/optimizer.ts';
import { createCompute, type Compute } from '../../trainer/pool/compute.ts';
import { openRun } from '../../trainer/run.ts';
import { evaluateStage, EvaluateSettings } from '../../trainer/stages/evaluate.ts';
import { reinforceStage, ReinforceSettings } from '../../trainer/stages/reinforce.ts';
import { sftStage, SftStageSettings } from '../../trainer/stages/sft.ts';
import { teachStage, TeachSettings } from '../../trainer/stages/teach.ts';
import { Interrupted, type Workspace } from '../../trainer/workspace.ts';

const SEED = 3;
const teachSettings = { ...TeachSettings.parse({ tasks: 64 }), seed: SEED };
const sftSettings = {
  ...SftStageSettings.parse({ max_tokens: 6000, layers: 1, validation: 8, sft_checkpoint_every: 3, warmup_steps: 2 }),
  seed: SEED,
};
const rlSettings = {
  ...ReinforceSettings.parse({
    ...{ steps: 4, tasks_per_step: 2, group_size: 3, max_new_tokens: 12, rl_checkpoint_every: 2, validation_tasks: 4 },
    ...{ max_turns: 2, action_set: 'editor', reward: 'stronger', entropy_bonus: 0.01 }, // a gradient without a reward
  }),
  seed: SEED,
};
const evaluateSettings = { ...EvaluateSettings.parse({ eval_tasks: 8, eval_max_new_tokens: 12 }), seed: SEED };

const app = createApp({});
const client = createClient({ url: 'http://in.process', fetch: (request) => app.fetch(request) });
const folder = mkdtempSync(join(tmpdir(), 'canvas-gym-stages-'));
let compute: Compute;
let store: Store;

beforeAll(async () => {
  compute = await createCompute(await createBackend('wasm'), 2);
  store = openStore(join(folder, 'log.db'));
});
afterAll(async () => {
  await compute.close();
  store.close();
  rmSync(folder, { recursive: true });
});

/** A workspace whose user asks to stop at the `stopAt`-th chance. */
function createWorkspace(run_id: string, stopAt = Infinity): Workspace {
  const run = openRun({ root: folder, command: 'test', settings: {}, run_id });
  store.createRun({ run_id, command: 'test', config: {} });
  let chances = 0;
  const nothing = (): void => undefined;
  return {
    ...{ url: 'http://in.process', client, store, run, out: nothing },
    progress: { plan: nothing, start: nothing, update: nothing, finish: nothing },
    defer: () => undefined,
    shouldStop: () => {
      chances += 1;
      return chances === stopAt;
    },
  };
}

const read = (...path: string[]): Buffer => readFileSync(join(folder, ...path));

describe('a run', () => {
  let whole: Workspace;

  beforeAll(async () => {
    whole = createWorkspace('whole');
    const examples = await teachStage(whole, teachSettings);
    const sft = await sftStage(whole, compute, examples, sftSettings);
    const rl = await reinforceStage(whole, compute, sft, rlSettings);
    const contenders = [
      { name: 'teacher', plays: { flaw_rate: 0 } },
      { name: 'sft', plays: { checkpoint: sft } },
      { name: 'rl-4', plays: { checkpoint: rl } },
    ];
    const [iid] = await evaluateStage(whole, compute, contenders, evaluateSettings);
    expect(iid!.policies[0]!.rewards.graded.every((value) => value > 0.9)).toBe(true);
  });

  test('teach keeps the best proposal of each task and logs all of them', () => {
    const examples = readDataset(whole.run.file('dataset.jsonl'));
    expect(examples.length).toBeGreaterThan(50);
    expect(examples.every(({ reward }) => reward >= teachSettings.min_reward)).toBe(true);
    expect(new Set(examples.map(({ task_id }) => task_id.split('.')[1])).size).toBe(8);
    const [row] = store.query(`SELECT count(*) AS samples, sum(accepted) AS kept FROM teacher_samples`);
    expect(row).toEqual({ samples: 64 * teachSettings.samples, kept: examples.length });
  });

  test('reinforce logs every episode with what was sampled, turn by turn', () => {
    const episodes = store.episodes({ run_id: 'whole', stage: 'reinforce' });
    expect(episodes).toHaveLength(4 * 2 * 3);
    expect(new Set(episodes.map(({ policy_version }) => policy_version))).toEqual(
      new Set(['rl-0', 'rl-1', 'rl-2', 'rl-3']),
    );
    for (const { episode_id, episode_length, episode_return } of episodes) {
      const steps = store.steps(episode_id);
      expect(steps).toHaveLength(episode_length);
      expect(steps.reduce((sum, { reward }) => sum + reward!, 0)).toBeCloseTo(episode_return!, 9);
      for (const { completion_ids, sampled_logprobs } of steps) {
        expect(completion_ids).toHaveLength(sampled_logprobs!.length);
      }
    }
  });

  test('training sees the policy that acted: recomputed log-probs are the sampled ones', () => {
    const gaps = store.metric('whole', 'reinforce', 'policy/logprob_difference');
    expect(gaps.length).toBeGreaterThan(0);
    for (const { value } of gaps) expect(value).toBeLessThan(1e-4);
  });

  test('evaluate logs one episode a task and policy', () => {
    const episodes = store.episodes({ run_id: 'whole', stage: 'evaluate' });
    expect(episodes).toHaveLength(3 * 8);
    expect(new Set(episodes.map(({ task_id }) => task_id)).size).toBe(8);
  });

  test('a run that stopped for updates that are not finite stops again, and is not taken for a finished one', async () => {
    const ws = createWorkspace('broken');
    const { model, tokenizer } = loadCheckpoint(whole.run.file('rl'), compute.backend);
    const state = { optimizer_step: rlSettings.steps, env_steps: 0, moving_means: [], skipped_in_a_row: 3 };
    await saveCheckpoint(ws.run.file('rl'), { model, tokenizer, optimizer: createOptimizer(model), state });
    await expect(reinforceStage(ws, compute, whole.run.file('sft'), rlSettings)).rejects.toThrow('not finite');
  });

  test('checkpoints hold all that a run goes on with: counters, position in the data, baseline, every moment', () => {
    // Random streams are made from seed and step (schemas/seed.ts), so these counters are their position too.
    const stateOf = (stage: string): unknown =>
      (JSON.parse(read('whole', stage, 'trainer_state.json').toString()) as { state: unknown }).state;
    const positive = expect.any(Number) as number;
    expect(stateOf('sft')).toMatchObject({ optimizer_step: positive, tokens: positive, examples: positive });
    expect(stateOf('rl')).toMatchObject({ optimizer_step: 4, env_steps: positive, moving_means: [positive, positive] });
    const { model } = loadCheckpoint(whole.run.file('rl'), compute.backend);
    for (const stage of ['sft', 'rl']) {
      const moments = decodeSafetensors(read('whole', stage, 'optimizer.safetensors'));
      const names = parameterSpecs(model.config).flatMap(({ kind, name }) =>
        kind === 'matrix' ? [`momentum/${name}`] : [`mean/${name}`, `square/${name}`],
      );
      expect([...moments.keys()].sort()).toEqual(names.sort());
      expect(moments.get('square/embedding')!.values.some((value) => value > 0)).toBe(true);
    }
    disposeModel(model);
  });

  test('a stage that is done is passed over', async () => {
    const before = read('whole', 'sft', 'model.safetensors');
    const again = createWorkspace('whole', 1); // would throw at its first step
    const examples = await teachStage(again, teachSettings);
    await sftStage(again, compute, examples, sftSettings);
    await reinforceStage(again, compute, again.run.file('sft'), rlSettings);
    expect(read('whole', 'sft', 'model.safetensors').equals(before)).toBe(true);
  });

  test.each([1, 2, 4, 5])(
    'stopped at chance %i of a stage and taken up again, it ends in the same bytes',
    async (at) => {
      const run_id = `stopped-${at}`;
      const examples = readDataset(whole.run.file('dataset.jsonl'));
      await expect(sftStage(createWorkspace(run_id, at), compute, examples, sftSettings)).rejects.toThrow(Interrupted);
      const sft = await sftStage(createWorkspace(run_id), compute, examples, sftSettings);
      if (at < 4) {
        await expect(reinforceStage(createWorkspace(run_id, at), compute, sft, rlSettings)).rejects.toThrow(
          Interrupted,
        );
      }
      await reinforceStage(createWorkspace(run_id), compute, sft, rlSettings);
      for (const stage of ['sft', 'rl']) {
        for (const file of ['model.safetensors', 'optimizer.safetensors', 'trainer_state.json']) {
          expect(read(run_id, stage, file).equals(read('whole', stage, file)), `${stage}/${file}`).toBe(true);
        }
      }
      expect(JSON.parse(read('whole', 'rl', 'trainer_state.json').toString())).toMatchObject({
        state: { optimizer_step: 4, skipped_in_a_row: 0 },
      });
      const ofMachine = /^(time|perf)\//; // what is measured with a clock, or counts what the process holds
      const namesOf = (run: string) =>
        store.metricNames(run).filter(({ stage }) => stage === 'sft' || stage === 'reinforce');
      expect(namesOf(run_id)).toEqual(namesOf('whole'));
      for (const { stage, name } of namesOf('whole').filter((metric) => !ofMachine.test(metric.name))) {
        expect(store.metric(run_id, stage, name), name).toEqual(store.metric('whole', stage, name));
      }
      expect(store.episodes({ run_id, stage: 'reinforce' })).toHaveLength(4 * 2 * 3);
    },
  );
});
