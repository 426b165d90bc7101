/** The stage `reinforce`: a checkpoint is improved by its rewards. */
import { z } from 'zod';
import { ActionSet } from '../../schemas/action.ts';
import { Preset } from '../../schemas/reward.ts';
import { hash64 } from '../../schemas/seed.ts';
import { UsageError } from '../../schemas/settings.ts';
import { Level } from '../../schemas/task.ts';
import { BASELINES } from '../advantage.ts';
import { loadCheckpoint, resumeCheckpoint, saveCheckpoint } from '../checkpoint.ts';
import { DecodingSettings, toDecoding } from '../decoding/settings.ts';
import { assertUpdated } from '../divergence.ts';
import { cloneModel, disposeModel, type Model } from '../model/model.ts';
import { KL_NAMES, LENGTH_NAMES, POLICY_LOSS_NAMES } from '../objective.ts';
import { createOptimizer, DEFAULT_OPTIMIZER_SETTINGS, type OptimizerSettings } from '../optimizer.ts';
import { createModelPolicy } from '../policy.ts';
import type { Compute } from '../pool/compute.ts';
import { reinforce, type ReinforceState } from '../reinforce.ts';
import { createPromptRewording } from '../reword.ts';
import type { Opening, Policy } from '../rollout.ts';
import { trainingFamilies } from '../teach.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { createValidation, isValidationDue } from '../validation.ts';
import { Interrupted, type Workspace } from '../workspace.ts';
import { timed } from './timed.ts';

const Count = z.number().int().positive();
const Share = z.number().min(0).max(1);
const Levels = z.array(Level).min(1);

export const ReinforceSettings = z.strictObject({
  levels: Levels.default([1]).describe('Levels of the training tasks, separated by commas'),
  steps: Count.default(120).meta({ description: 'Updates of the policy', unit: 'steps' }),
  tasks_per_step: Count.default(8).meta({ description: 'Tasks of a step', unit: 'tasks' }),
  group_size: Count.default(8).meta({ description: 'Episodes of each task', unit: 'episodes' }),
  curriculum: z
    .boolean()
    .default(false)
    .describe('Draw tasks from the families and levels with most to learn, else from all alike'),
  rl_reword_share: Share.default(0).describe('Share of tasks whose prompt the policy reads in other words'),
  temperature: z.number().min(0.01).default(1).describe('Divides the logits when sampling'),
  max_new_tokens: Count.default(160).meta({ description: 'Longest completion', unit: 'tokens' }),
  ...DecodingSettings.shape,
  reward: Preset.default('graded').describe('Reward preset to train on'),
  action_set: ActionSet.default('core').describe('Actions the policy may use'),
  max_turns: Count.default(1).meta({ description: 'Turns of an episode', unit: 'turns' }),
  baseline: z.enum(BASELINES).default('leave_one_out').describe('Subtracted from the return'),
  normalise: z
    .boolean()
    .default(true)
    .describe("Divide advantages by their group's standard deviation; with none and moving_mean by the batch's"),
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
  reward_kl_beta: z.number().min(0).default(0).describe('Weight of that KL, as k1, taken off the reward'),
  kl_estimator: z.enum(KL_NAMES).default('k3').describe('How the KL in the loss is estimated from a sampled token'),
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
  max_kl: z.number().positive().default(2).meta({
    description: 'KL (k3) to the policy it starts from at which the run stops, as one that has gone astray',
    unit: 'nats a token',
  }),
  validate_every: z.number().int().min(0).default(20).meta({
    description: 'Steps between two validations, which play tasks of val greedily; 0 for none',
    unit: 'steps',
  }),
  validation_tasks: Count.default(64).meta({ description: 'Tasks of a validation', unit: 'tasks' }),
  rl_checkpoint_every: Count.default(10).meta({ description: 'Steps between checkpoints', unit: 'steps' }),
});
export type ReinforceSettings = z.output<typeof ReinforceSettings>;
type Settings = ReinforceSettings & { seed: number };

const REINFORCE_START: ReinforceState = {
  optimizer_step: 0,
  env_steps: 0,
  moving_means: [],
  cell_means: {},
  skipped_in_a_row: 0,
};

/**
 * Improves the policy of a checkpoint.
 * @param opening Plays the first turn of every episode.
 * @returns the folder of the improved one
 * @throws UsageError, CheckpointError, Interrupted, Diverged, the client's errors
 */
export async function reinforceStage(
  ws: Workspace,
  compute: Compute,
  from: string,
  settings: Settings,
  opening?: Opening,
): Promise<string> {
  assertLearnable(settings);
  const folder = ws.run.file('rl');
  const loaded = resumeCheckpoint(folder, compute.backend);
  const state: ReinforceState = { ...REINFORCE_START, ...(loaded?.state as ReinforceState | undefined) };
  assertUpdated('reinforce', state.optimizer_step, state.skipped_in_a_row);
  const base = loadCheckpoint(from, compute.backend);
  const { tokenizer } = base;
  const model = loaded?.model ?? cloneModel(base.model);
  const optimizer = createOptimizer(model, reinforceRates(settings), compute.orthogonalise);
  if (loaded?.optimizer_state) optimizer.restore(loaded.optimizer_state);
  for (const stage of ['reinforce', 'validation']) ws.store.deleteAfter(ws.run.run_id, stage, state.optimizer_step);

  if (state.optimizer_step < settings.steps) {
    await timed(ws, 'reinforce', state.optimizer_step, async (mark) => {
      ws.progress.start('reinforce', settings.steps, 'steps', state.optimizer_step);
      const validate = await createValidator(ws, compute, model, tokenizer, settings);
      let validated = state.optimizer_step === 0 ? await validate(0) : undefined;
      const parts = {
        ...{ compute, client: ws.client, store: ws.store, model, reference: base.model, optimizer },
        createPolicy: (step: number) => policyAt(compute, model, tokenizer, settings, step),
        onStep: async (
          now: ReinforceState,
          metrics: Readonly<Record<string, number>>,
          assertGood: () => Promise<void>,
        ) => {
          validated = (await validate(now.optimizer_step)) ?? validated;
          const shown = validated === undefined ? {} : { validation: validated };
          ws.progress.update(now.optimizer_step, { reward: metrics['episode/return']!, ...shown });
          const isLast = now.optimizer_step === settings.steps;
          const isDue = isLast || now.optimizer_step % settings.rl_checkpoint_every === 0;
          const isStopped = !isLast && ws.shouldStop();
          if (isDue || isStopped) {
            await assertGood();
            await saveCheckpoint(folder, { model, tokenizer, optimizer, state: now });
          }
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
        opening,
        rewordPrompt: createPromptRewording(tokenizer, settings),
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

/** @throws UsageError where every advantage would be 0 */
function assertLearnable({ baseline, group_size }: ReinforceSettings): void {
  if (group_size > 1 || baseline === 'none' || baseline === 'moving_mean') return;
  throw new UsageError([
    `--group-size 1 leaves --baseline ${baseline} nothing to compare with: give more, or --baseline moving_mean`,
  ]);
}

/** Validates the weights as they are after a step, where one is due; answers the graded reward. */
async function createValidator(
  ws: Workspace,
  compute: Compute,
  model: Model,
  tokenizer: Tokenizer,
  settings: Settings,
): Promise<(step: number) => Promise<number | undefined>> {
  if (settings.validate_every === 0) return () => Promise.resolve(undefined);
  const validate = await createValidation(ws, settings, settings);
  return async (step) => {
    if (!isValidationDue(step, settings)) return undefined;
    const policy = await policyAt(compute, model, tokenizer, { ...settings, temperature: 0 }, step);
    const metrics = await validate(policy.act, step).finally(policy.dispose);
    return metrics['validation/graded'];
  };
}

function reinforceRates({ rl_muon_lr, rl_adamw_lr }: ReinforceSettings): OptimizerSettings {
  return { ...DEFAULT_OPTIMIZER_SETTINGS, muon_lr: rl_muon_lr, adamw_lr: rl_adamw_lr };
}

/** The policy of one step: the weights of now, packed once, and a stream of random numbers of its own. */
async function policyAt(
  compute: Compute,
  model: Model,
  tokenizer: Tokenizer,
  { temperature, max_new_tokens, seed, ...settings }: Settings,
  step: number,
): Promise<{ act: Policy; dispose: () => Promise<void> }> {
  const sampler = await compute.createSampler(model, tokenizer);
  const act = createModelPolicy(sampler, tokenizer, {
    ...{ temperature, max_new_tokens, ...toDecoding(settings, settings) },
    max_prompt_tokens: model.config.max_position_embeddings - 1, // a longer one is not read, and earns what that earns
    seed: hash64('reinforce.sample', seed, step),
  });
  return {
    act,
    dispose: () => sampler.dispose(),
  };
}
