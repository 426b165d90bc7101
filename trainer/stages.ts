/**
 * The stages of a run, each around the code that does its work: settings, checkpoints, log and progress. A stage leaves
 * its result in the run folder; where the result is there already, the stage is done and is passed over. A stage that was
 * cut off goes on from its last checkpoint, after what was logged later than that is forgotten.
 *
 *   teach -> dataset.jsonl    sft -> sft/    reinforce -> rl/    evaluate -> the log
 */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { PRESET_VERSIONS, Preset } from '../schemas/reward.ts';
import { ActionSet } from '../schemas/action.ts';
import { createRng, hash64 } from '../schemas/seed.ts';
import { Level, Split } from '../schemas/task.ts';
import { BASELINES } from './advantage.ts';
import { KL_NAMES, LENGTH_NAMES, POLICY_LOSS_NAMES } from './objective.ts';
import type { Backend } from './backend.ts';
import { hasCheckpoint, loadCheckpoint, saveCheckpoint } from './checkpoint.ts';
import { readDataset, writeDataset, type Example } from './dataset.ts';
import { chooseTasks, evaluatePolicy, type PolicyEvaluation } from './evaluate.ts';
import { tinyConfig } from './model/config.ts';
import { createModel, disposeModel, type Model } from './model/model.ts';
import { createOptimizer, DEFAULT_OPTIMIZER_SETTINGS, type OptimizerSettings } from './optimizer.ts';
import { createModelPolicy, createTeacherPolicy } from './policy.ts';
import { toEpisodeRecord } from './record.ts';
import { assertFinite, reinforce, type ReinforceState } from './reinforce.ts';
import type { Policy } from './rollout.ts';
import { createSampler } from './sample.ts';
import { runSft, SFT_START, SftSettings, type SftState } from './sft.ts';
import { DEFAULT_MIN_REWARD, teach, trainingFamilies } from './teach.ts';
import { trainTokenizer } from './tokenizer.ts';
import { onlyFinite } from './statistics.ts';
import { Interrupted, type Workspace } from './workspace.ts';

const Count = z.number().int().positive();
const Share = z.number().min(0).max(1);
const Levels = z.array(Level).min(1);

/**
 * Measures a part of a stage, the one that began at `step`; the parts of a stage that was cut off add up. `mark` logs the
 * time so far, for parts that may end without notice.
 */
async function timed<T>(
  ws: Workspace,
  stage: string,
  step: number,
  work: (mark: () => void) => Promise<T>,
): Promise<T> {
  const startedMs = performance.now();
  const mark = (): void => {
    ws.store.recordMetrics(ws.run.run_id, stage, step, { 'time/stage_s': (performance.now() - startedMs) / 1000 });
  };
  try {
    return await work(mark);
  } finally {
    mark();
  }
}

// ---------------------------------------------------------------------------------------------------------------- teach

export const TeachSettings = z.strictObject({
  levels: Levels.default([1]).describe('Levels of the training tasks, separated by commas'),
  tasks: Count.default(4000).meta({ description: 'Training tasks the teacher answers', unit: 'tasks' }),
  samples: Count.default(4).meta({ description: 'Completions it proposes for each', unit: 'completions' }),
  flaw_rate: Share.default(0.25).describe('Share of proposals with a deliberate fault'),
  teacher_reward: Preset.default('graded').describe('Reward preset that judges the proposals'),
  min_reward: Share.default(DEFAULT_MIN_REWARD).describe('Least reward of a completion that is kept'),
  keep: Count.default(1).meta({ description: 'Most completions kept of a task', unit: 'completions' }),
});
export type TeachSettings = z.output<typeof TeachSettings>;

export async function teachStage(ws: Workspace, settings: TeachSettings & { seed: number }): Promise<Example[]> {
  const file = ws.run.file('dataset.jsonl');
  if (existsSync(file)) return readDataset(file);
  return timed(ws, 'teach', 0, async () => {
    ws.progress.start('teach', settings.tasks, 'tasks');
    const options = { ...settings, run_id: ws.run.run_id, reward: settings.teacher_reward };
    const examples = await teach(ws.client, ws.store, options, (done, metrics) => {
      if (ws.shouldStop()) throw new Interrupted(`${done} tasks`);
      ws.progress.update(done, metrics);
    });
    writeDataset(file, examples);
    ws.progress.finish(`${examples.length} examples kept`);
    return examples;
  });
}

// ------------------------------------------------------------------------------------------------------------------ sft

export const SftStageSettings = SftSettings.omit({ seed: true }).extend({
  layers: Count.default(2).meta({ description: 'Layers of the tiny model', unit: 'layers' }),
  validation: z
    .number()
    .int()
    .min(0)
    .default(96)
    .meta({ description: 'Examples kept for validation', unit: 'examples' }),
  sft_checkpoint_every: Count.default(100).meta({ description: 'Steps between checkpoints', unit: 'steps' }),
  muon_lr: z.number().positive().default(0.02).describe('Learning rate of the matrices (Muon)'),
  adamw_lr: z.number().positive().default(2e-3).describe('Learning rate of embedding and gains (AdamW)'),
});
export type SftStageSettings = z.output<typeof SftStageSettings>;

/**
 * Trains the tiny model from nothing on the examples.
 * @returns the checkpoint's folder
 * @throws CheckpointError, Interrupted; Error where no examples are left to train on or gradients stay non-finite
 */
export async function sftStage(
  ws: Workspace,
  backend: Backend,
  examples: readonly Example[],
  settings: SftStageSettings & { seed: number },
): Promise<string> {
  const folder = ws.run.file('sft');
  const loaded = hasCheckpoint(folder) ? loadCheckpoint(folder, backend) : undefined;
  const start: SftState = { ...SFT_START, ...(loaded?.state as SftState | undefined) };
  if (start.is_finished) {
    if (loaded) disposeModel(loaded.model);
    return folder;
  }
  const tokenizer = loaded?.tokenizer ?? trainTokenizer(examples);
  const config = { ...tinyConfig(tokenizer.vocab_size), num_hidden_layers: settings.layers };
  const model = loaded?.model ?? createModel(config, backend, createRng(hash64('init', settings.seed)));
  const { muon_lr, adamw_lr } = settings;
  const optimizer = createOptimizer(model, { ...DEFAULT_OPTIMIZER_SETTINGS, muon_lr, adamw_lr });
  if (loaded?.optimizer_state) optimizer.restore(loaded.optimizer_state);
  ws.store.deleteAfter(ws.run.run_id, 'sft', start.optimizer_step);

  await timed(ws, 'sft', start.optimizer_step, async (mark) => {
    ws.progress.start('sft', settings.max_tokens, 'tokens', start.tokens);
    const parts = { model, tokenizer, optimizer, ...splitExamples(examples, settings) };
    const onStep = async (state: SftState, metrics: Readonly<Record<string, number>>): Promise<void> => {
      ws.store.recordMetrics(ws.run.run_id, 'sft', state.optimizer_step, onlyFinite(metrics));
      ws.progress.update(state.tokens, { loss: metrics['loss/sft']! });
      const isStopped = !state.is_finished && ws.shouldStop();
      const isDue = state.is_finished || state.optimizer_step % settings.sft_checkpoint_every === 0;
      if (isDue || isStopped) await saveCheckpoint(folder, { model, tokenizer, optimizer, state });
      if (isDue) mark();
      if (isStopped) throw new Interrupted(`step ${state.optimizer_step}`);
    };
    await runSft({ ...parts, onStep }, settings, start);
    ws.progress.finish();
  });
  optimizer.dispose();
  disposeModel(model);
  return folder;
}

/** Validation examples of all families, drawn by the seed, and the rest to train on. */
function splitExamples(examples: readonly Example[], { seed, validation }: SftStageSettings & { seed: number }) {
  if (examples.length <= validation) {
    throw new Error(`${examples.length} examples, of which --validation ${validation} leaves none to train on`);
  }
  const shuffled = createRng(hash64('sft.validation', seed)).shuffle(examples);
  return { validation: shuffled.slice(0, validation), examples: shuffled.slice(validation) };
}

// ------------------------------------------------------------------------------------------------------------ reinforce

export const ReinforceSettings = z.strictObject({
  levels: Levels.default([1]).describe('Levels of the training tasks, separated by commas'),
  steps: Count.default(120).meta({ description: 'Updates of the policy', unit: 'steps' }),
  tasks_per_step: Count.default(8).meta({ description: 'Tasks of a step', unit: 'tasks' }),
  group_size: Count.default(8).meta({ description: 'Episodes of each task', unit: 'episodes' }),
  temperature: z.number().positive().default(1).describe('Divides the logits when sampling'),
  max_new_tokens: Count.default(160).meta({ description: 'Longest completion', unit: 'tokens' }),
  reward: Preset.default('graded').describe('Reward preset to train on'),
  action_set: ActionSet.default('core').describe('Actions the policy may use'),
  max_turns: Count.default(1).meta({ description: 'Turns of an episode', unit: 'turns' }),
  baseline: z.enum(BASELINES).default('leave_one_out').describe('Subtracted from the return'),
  normalise: z.boolean().default(true).describe("Divide advantages by their group's standard deviation"),
  policy_loss: z
    .enum(POLICY_LOSS_NAMES)
    .default('reinforce')
    .describe('What a token contributes to the loss: see trainer/objective.ts'),
  updates_per_batch: Count.default(1).meta({
    description: 'Updates from the same episodes; over 1 wants ppo_clip',
    unit: 'updates',
  }),
  clip_low: Share.default(0.2).describe('ppo_clip: how far below 1 the ratio to the acting policy counts'),
  clip_high: z.number().min(0).default(0.2).describe('ppo_clip: how far above 1 it counts'),
  kl_beta: z.number().min(0).default(0.01).describe('Weight in the loss of the KL to the policy it starts from'),
  reward_kl_beta: z.number().min(0).default(0).describe('Weight of that KL taken off the reward'),
  kl_estimator: z.enum(KL_NAMES).default('k3').describe('How the KL is estimated from a sampled token'),
  entropy_bonus: z.number().min(0).default(0).describe("Weight of the policy's entropy in the loss"),
  length: z
    .enum(LENGTH_NAMES)
    .default('fixed')
    .describe('What tokens weigh: all alike, those of an episode together 1, or 1 / length_divisor each'),
  length_divisor: Count.default(50).meta({
    description: 'length fixed: what an episode counts in the divisor of the loss',
    unit: 'tokens',
  }),
  mask_truncated: z.boolean().default(false).describe('Leave completions that ran into max_new_tokens out of the loss'),
  truncation_penalty: z.number().min(0).default(0).describe('Taken off the reward of such a completion'),
  rl_warmup_steps: z
    .number()
    .int()
    .min(0)
    .default(5)
    .meta({ description: 'Steps in which the rate rises to its value', unit: 'steps' }),
  rl_decay_share: Share.default(0.4).describe('Last share of the steps, in which the rate falls to 0'),
  rl_muon_lr: z.number().positive().default(0.003).describe('Learning rate of the matrices (Muon)'),
  rl_adamw_lr: z.number().positive().default(3e-4).describe('Learning rate of embedding and gains (AdamW)'),
  rl_checkpoint_every: Count.default(10).meta({ description: 'Steps between checkpoints', unit: 'steps' }),
});
export type ReinforceSettings = z.output<typeof ReinforceSettings>;

const REINFORCE_START: ReinforceState = {
  optimizer_step: 0,
  env_steps: 0,
  moving_means: [],
  skipped_in_a_row: 0,
};

/**
 * Improves the policy of a checkpoint.
 * @returns the folder of the improved one
 * @throws CheckpointError, Interrupted, the client's errors; Error where gradients stay non-finite
 */
export async function reinforceStage(
  ws: Workspace,
  backend: Backend,
  from: string,
  settings: ReinforceSettings & { seed: number },
): Promise<string> {
  const folder = ws.run.file('rl');
  const loaded = hasCheckpoint(folder) ? loadCheckpoint(folder, backend) : undefined;
  const state: ReinforceState = { ...REINFORCE_START, ...(loaded?.state as ReinforceState | undefined) };
  assertFinite(state);
  const base = loadCheckpoint(from, backend);
  const { tokenizer } = base;
  const model = loaded?.model ?? loadCheckpoint(from, backend).model;
  const optimizer = createOptimizer(model, reinforceRates(settings));
  if (loaded?.optimizer_state) optimizer.restore(loaded.optimizer_state);
  ws.store.deleteAfter(ws.run.run_id, 'reinforce', state.optimizer_step);

  if (state.optimizer_step < settings.steps) {
    await timed(ws, 'reinforce', state.optimizer_step, async (mark) => {
      ws.progress.start('reinforce', settings.steps, 'steps', state.optimizer_step);
      const parts = {
        ...{ client: ws.client, store: ws.store, model, reference: base.model, optimizer },
        createPolicy: (step: number) => policyAt(model, tokenizer, settings, step),
        onStep: async (now: ReinforceState, metrics: Readonly<Record<string, number>>) => {
          ws.progress.update(now.optimizer_step, { reward: metrics['episode/return']! });
          const isLast = now.optimizer_step === settings.steps;
          const isDue = isLast || now.optimizer_step % settings.rl_checkpoint_every === 0;
          const isStopped = !isLast && ws.shouldStop();
          if (isDue || isStopped) await saveCheckpoint(folder, { model, tokenizer, optimizer, state: now });
          if (isDue) mark();
          if (isStopped) throw new Interrupted(`step ${now.optimizer_step}`);
        },
      };
      const families = await trainingFamilies(ws.client);
      await reinforce(parts, state, {
        ...settings,
        warmup_steps: settings.rl_warmup_steps,
        decay_share: settings.rl_decay_share,
        families,
        run_id: ws.run.run_id,
      });
      ws.progress.finish();
    });
  }
  optimizer.dispose();
  disposeModel(model);
  disposeModel(base.model);
  return folder;
}

function reinforceRates({ rl_muon_lr, rl_adamw_lr }: ReinforceSettings): OptimizerSettings {
  return { ...DEFAULT_OPTIMIZER_SETTINGS, muon_lr: rl_muon_lr, adamw_lr: rl_adamw_lr };
}

/** The policy of one step: the weights of now, packed once, and a stream of random numbers of its own. */
async function policyAt(
  model: Model,
  tokenizer: Parameters<typeof createModelPolicy>[1],
  { temperature, max_new_tokens, seed }: ReinforceSettings & { seed: number },
  step: number,
): Promise<{ act: Policy; dispose: () => void }> {
  const sampler = await createSampler(model);
  const act = createModelPolicy(sampler, tokenizer, {
    temperature,
    max_new_tokens,
    seed: hash64('reinforce.sample', seed, step),
  });
  return {
    act,
    dispose: () => {
      sampler.dispose();
    },
  };
}

// ------------------------------------------------------------------------------------------------------------- evaluate

export const EvaluateSettings = z.strictObject({
  split: Split.default('test_iid').describe('Split of the tasks'),
  eval_levels: Levels.default([1]).describe('Levels of the tasks, separated by commas'),
  eval_tasks: Count.default(400).meta({ description: 'Tasks each policy plays', unit: 'tasks' }),
  eval_temperature: z.number().min(0).default(1).describe('Divides the logits when sampling; 0 is greedy'),
  eval_max_new_tokens: Count.default(160).meta({ description: 'Longest completion', unit: 'tokens' }),
});
export type EvaluateSettings = z.output<typeof EvaluateSettings>;

/** A policy to evaluate: a checkpoint's folder, or the teacher with its rate of faults. */
export interface Contender {
  /** `teacher`, `sft`, `rl-60`: the policy_version in the log. */
  name: string;
  plays: { checkpoint: string } | { flaw_rate: number };
}

/**
 * All contenders on the same tasks; every episode goes to the log.
 * @throws CheckpointError, Interrupted, the client's errors
 */
export async function evaluateStage(
  ws: Workspace,
  backend: Backend,
  contenders: readonly Contender[],
  settings: EvaluateSettings & { seed: number },
): Promise<PolicyEvaluation[]> {
  return timed(ws, 'evaluate', 0, async () => {
    const { split, eval_levels: levels, eval_tasks: count } = settings;
    const taskIds = await chooseTasks(ws.client, { split, levels, count });
    ws.progress.start('evaluate', taskIds.length * contenders.length, 'episodes');
    const evaluations: PolicyEvaluation[] = [];
    for (const { name, plays } of contenders) {
      const before = evaluations.length * taskIds.length;
      const onProgress = (done: number): void => {
        if (ws.shouldStop()) throw new Interrupted(`${before + done} episodes`);
        ws.progress.update(before + done);
      };
      const evaluation = await withPolicy(backend, plays, settings, (policy) =>
        evaluatePolicy(ws.client, name, policy, taskIds, onProgress),
      );
      evaluations.push(evaluation);
      const context = { policy_version: name, optimizer_step: 0, reward: 'graded' } as const;
      const records = evaluation.trajectories.map((trajectory) => toEpisodeRecord(trajectory, context));
      ws.store.recordEpisodes(ws.run.run_id, 'evaluate', records);
    }
    ws.progress.finish(`${taskIds.length} tasks of ${split}, reward graded version ${PRESET_VERSIONS.graded}`);
    return evaluations;
  });
}

async function withPolicy<T>(
  backend: Backend,
  plays: Contender['plays'],
  { seed, eval_temperature, eval_max_new_tokens }: EvaluateSettings & { seed: number },
  work: (policy: Policy) => Promise<T>,
): Promise<T> {
  if ('flaw_rate' in plays) return work(createTeacherPolicy(seed, plays.flaw_rate));
  const { model, tokenizer } = loadCheckpoint(plays.checkpoint, backend);
  const sampler = await createSampler(model);
  try {
    const options = { temperature: eval_temperature, max_new_tokens: eval_max_new_tokens };
    return await work(createModelPolicy(sampler, tokenizer, { ...options, seed: hash64('evaluate', seed) }));
  } finally {
    sampler.dispose();
    disposeModel(model);
  }
}
