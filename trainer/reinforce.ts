/**
 * REINFORCE with a baseline and a leash: sample a group of completions for each task, let the environment score them,
 * and make what scored above its group more likely.
 *
 *   loss = sum_t w_t (-(return_to_go_t - baseline) log pi(token_t) + beta k3_t)
 *
 * Williams 1992, "Simple statistical gradient-following algorithms for connectionist reinforcement learning". That is the
 * default. With several updates a batch the policy moves away from the one that acted, and `ppo_clip` makes it PPO's or, with
 * group advantages, GRPO's objective. What can be chosen, and from which paper it is: objective.ts (the loss), advantage.ts
 * (the baseline), credit.ts (what a turn earns).
 *
 * Left out here: a learned value function.
 */
import type { Client } from '../clients/ts/index.ts';
import type { Store } from '../clients/store/index.ts';
import { createRng, hash64 } from '../schemas/seed.ts';
import type { Family, Level } from '../schemas/task.ts';
import { isFlatGroup } from './advantage.ts';
import { drawCell, nextCellMeans, type CellMeans } from './curriculum.ts';
import { computeTurnAdvantages, groupBy, learningRewards, nextMovingMeans, returnsToGo } from './credit.ts';
import type { CreditOptions } from './credit.ts';
import { assertKl, assertUpdated } from './divergence.ts';
import type { Model } from './model/model.ts';
import { KL_ESTIMATES } from './objective.ts';
import type { Optimizer } from './optimizer.ts';
import type { Compute } from './pool/compute.ts';
import { toEpisodeRecord } from './record.ts';
import { hasTokens, rollout, toTokenBatch, type Policy, type RolloutOptions, type Trajectory } from './rollout.ts';
import { mean, standardDeviation } from './statistics.ts';
import { updatePolicy, type UpdateOptions } from './update.ts';

export interface ReinforceOptions extends Omit<RolloutOptions, 'rewordPrompt'>, CreditOptions, UpdateOptions {
  run_id: string;
  seed: number;
  levels: readonly Level[];
  families: readonly Family[];
  /** Steps to take: each is a batch of episodes, and `updates_per_batch` updates from them. */
  steps: number;
  /** Tasks of a step; each is played by a group of `group_size` episodes. */
  tasks_per_step: number;
  /** Whether tasks come from where there is most to learn: see curriculum.ts. Else families and levels count alike. */
  curriculum?: boolean;
  /** The prompt of a step's task as the policy reads it, where that is not the task's own wording. */
  rewordPrompt?: (prompt: string, step: number, group: number) => string;
  /** Steps over which the learning rate rises to its value. */
  warmup_steps: number;
  /** Last share of the steps, over which the learning rate falls towards 0. */
  decay_share: number;
  /** Mean k3 to the reference, nats a token, over which the run stops. */
  max_kl: number;
}

/** What REINFORCE carries from step to step beside weights and optimizer; it goes into the checkpoint. */
export interface ReinforceState {
  optimizer_step: number;
  env_steps: number;
  /** Mean return to go of each turn over earlier batches. */
  moving_means: number[];
  /** Running mean reward of each family and level, `family.level`; kept whether or not tasks are drawn by it. */
  cell_means?: CellMeans;
  /** Updates in a row that were skipped, since a gradient was not finite. */
  skipped_in_a_row: number;
}

export interface ReinforceParts {
  compute: Compute;
  client: Client;
  store: Store;
  model: Model;
  reference: Model;
  optimizer: Optimizer;
  /** The policy as the weights are now, sampling with a stream of the given step; disposed after the rollout. */
  createPolicy: (step: number) => Promise<{ act: Policy; dispose: () => Promise<void> }>;
  /**
   * Called after each step, once it is in the log; a good place to save a checkpoint. `assertGood` throws Diverged where
   * the weights as they are now are too far from the reference: a checkpoint of them would be no good one.
   */
  onStep: (state: ReinforceState, metrics: Record<string, number>, assertGood: () => Promise<void>) => Promise<void>;
}

/** Training tasks for REINFORCE begin here, far from those the teacher answered. */
const FIRST_INDEX = 1_000_000;
const INDEX_RANGE = 1_000_000_000;

/**
 * Trains from `state` to the last step.
 * @throws Diverged where updates stay non-finite or the policy leaves the reference by more than `max_kl`; the client's
 *   errors where the environment cannot be reached. The last checkpoint stays good.
 */
export async function reinforce(
  parts: ReinforceParts,
  state: ReinforceState,
  options: ReinforceOptions,
): Promise<void> {
  const { client, store, optimizer } = parts;
  while (state.optimizer_step < options.steps) {
    const step = state.optimizer_step;
    const startedMs = performance.now();

    // act
    const taskIds = drawTasks(step, options, options.curriculum ? (state.cell_means ?? {}) : undefined);
    const policy = await parts.createPolicy(step);
    const sampling = { ms: performance.now() - startedMs };
    const act = timedPolicy(policy.act, sampling);
    const rewordPrompt = (prompt: string, group: number): string =>
      options.rewordPrompt?.(prompt, step, group) ?? prompt;
    const trajectories = await rollout(client, act, taskIds, { ...options, rewordPrompt }).finally(policy.dispose);
    const actedMs = performance.now();

    // learn
    const referenceLogprobs = () => logprobsUnder(parts.compute, parts.reference, trajectories, options);
    const reference_logprobs = measuresKl(step, options) ? await referenceLogprobs() : undefined;
    const rewards_ET = learningRewards(trajectories, reference_logprobs, options);
    const returns_ET = returnsToGo(rewards_ET);
    const groups = trajectories.map(({ group_id }) => group_id);
    const advantages_ET = computeTurnAdvantages(groups, returns_ET, options, state.moving_means);
    const rate = learningRateFactor(step, options);
    const update = await updatePolicy(parts, trajectories, advantages_ET, reference_logprobs, options, rate);
    const learnedMs = performance.now();

    // keep
    state.optimizer_step = step + 1;
    state.env_steps += trajectories.reduce((sum, { turns }) => sum + turns.length, 0);
    state.moving_means = nextMovingMeans(state.moving_means, returns_ET);
    state.cell_means = nextCellMeans(state.cell_means ?? {}, trajectories.map(toPlayed));
    state.skipped_in_a_row = update.skipped ? state.skipped_in_a_row + 1 : 0;
    const metrics = {
      ...rolloutMetrics(trajectories, options.group_size),
      ...update.metrics,
      'optim/skipped_steps': optimizer.skipped_steps,
      'time/rollout_s': (actedMs - startedMs) / 1000,
      'time/sample_s': sampling.ms / 1000,
      'perf/sampled_tokens_per_s': (1000 * countTokens(trajectories)) / sampling.ms,
      'time/train_s': (learnedMs - actedMs) / 1000,
    };
    const context = { policy_version: `rl-${step}`, optimizer_step: step + 1, reward: options.reward };
    store.transaction(() => {
      store.recordEpisodes(
        options.run_id,
        'reinforce',
        trajectories.map((trajectory) => toEpisodeRecord(trajectory, context)),
      );
      store.recordMetrics(options.run_id, 'reinforce', step + 1, metrics);
    });
    assertUpdated('reinforce', step + 1, state.skipped_in_a_row);
    assertKl('reinforce', step + 1, update.metrics['policy/kl_k3'] ?? 0, options.max_kl);
    await parts.onStep(state, metrics, async () => {
      const logprobs = await logprobsUnder(parts.compute, parts.model, trajectories, options);
      const reference = reference_logprobs ?? (await referenceLogprobs());
      assertKl('reinforce', step + 1, meanK3(logprobs, reference), options.max_kl);
    });
  }
}

/**
 * Whether a step computes the KL to the reference, which takes a pass over the batch: always where the loss or the reward
 * has it; else in every tenth step, to see a policy go astray. (A checkpoint is only saved of weights whose KL is good.)
 */
function measuresKl(step: number, { kl_beta, reward_kl_beta }: ReinforceOptions): boolean {
  return kl_beta > 0 || reward_kl_beta > 0 || step % KL_EVERY === 0;
}

const KL_EVERY = 10;

type DrawOptions = Pick<ReinforceOptions, 'seed' | 'families' | 'levels' | 'tasks_per_step'>;

/**
 * Task ids of a step: a family, a level and an index, each drawn anew from the step's own stream.
 * @param means Draw families and levels by the curriculum, with these means so far; without it all alike.
 */
export function drawTasks(step: number, options: DrawOptions, means?: CellMeans): string[] {
  const { seed, families, levels, tasks_per_step } = options;
  const rng = createRng(hash64('reinforce.tasks', seed, step));
  const cells = families.flatMap((family) => levels.map((level) => `${family}.${level}`));
  return Array.from({ length: tasks_per_step }, () => {
    const index = FIRST_INDEX + Math.floor(rng.next() * INDEX_RANGE);
    const cell = means ? drawCell(cells, means, rng) : `${rng.pick(families)}.${rng.pick(levels)}`;
    return `train.${cell}.${index}`;
  });
}

/** The family and level of an episode's task, and its return. */
function toPlayed({ task_id, episode_return }: Trajectory): { cell: string; reward: number } {
  return { cell: task_id.split('.').slice(1, 3).join('.'), reward: episode_return };
}

/** Log-probabilities of the sampled tokens under a model, [E][turn][token]. */
async function logprobsUnder(
  compute: Compute,
  model: Model,
  trajectories: readonly Trajectory[],
  { temperature }: ReinforceOptions,
): Promise<number[][][]> {
  const completions = trajectories.flatMap(({ turns }) => turns.map(({ completion }) => completion)).filter(hasTokens);
  if (completions.length === 0) return trajectories.map(({ turns }) => turns.map(() => []));
  const { logprobs } = await compute.computeLogprobs(model, toTokenBatch(completions), { temperature });
  let next = 0;
  return trajectories.map(({ turns }) =>
    turns.map(({ completion }) => (hasTokens(completion) ? logprobs[next++]! : [])),
  );
}

/** Mean k3 estimate of KL(policy || reference), nats a token, from what was sampled; see KL_ESTIMATES. */
function meanK3(logprobs_ETN: number[][][], reference_ETN: number[][][]): number {
  const [logprobs, reference] = [logprobs_ETN.flat(2), reference_ETN.flat(2)];
  return mean(logprobs.map((logprob, i) => KL_ESTIMATES.k3(logprob, reference[i]!)));
}

/** Linear warm-up, then constant, then linear towards 0: what is left of the noise of sampled gradients averages out. */
export function learningRateFactor(
  step: number,
  { steps, warmup_steps, decay_share }: Pick<ReinforceOptions, 'steps' | 'warmup_steps' | 'decay_share'>,
): number {
  const warmup = warmup_steps === 0 ? 1 : Math.min(1, (step + 1) / warmup_steps);
  const decay = decay_share === 0 ? 1 : Math.min(1, (steps - step) / (decay_share * steps));
  return warmup * decay;
}

/** The policy, with the time it takes added to `sampling`. */
function timedPolicy(act: Policy, sampling: { ms: number }): Policy {
  return async (observations) => {
    const startedMs = performance.now();
    const completions = await act(observations);
    sampling.ms += performance.now() - startedMs;
    return completions;
  };
}

/** Tokens that were sampled. */
function countTokens(trajectories: readonly Trajectory[]): number {
  const turns = trajectories.flatMap((trajectory) => trajectory.turns);
  return turns.reduce((sum, { completion }) => sum + completion.completion_ids.length, 0);
}

/** Metrics of what was played; see trainer/report for what each one means. */
function rolloutMetrics(trajectories: readonly Trajectory[], groupSize: number): Record<string, number> {
  const returns = trajectories.map((trajectory) => trajectory.episode_return);
  const groups = groupBy(trajectories, (trajectory) => trajectory.group_id);
  const groupReturns = groups.map((group) => group.map((trajectory) => trajectory.episode_return));
  const turns = trajectories.flatMap((trajectory) => trajectory.turns);
  const last = trajectories.map(({ turns: all }) => all.at(-1)!.next_observation.reward_components);
  const names = Object.keys(last[0] ?? {});
  const components = names.map((name) => [`reward/${name}`, mean(last.map((values) => values[name] ?? 0))] as const);
  return {
    'episode/return': mean(returns),
    'episode/return_std': standardDeviation(returns),
    'episode/length': turns.length / trajectories.length,
    'episode/completion_tokens': mean(turns.map(({ completion }) => completion.completion_ids.length)),
    'group/flat_share': mean(groupReturns.map((group) => Number(isFlatGroup(group)))),
    'group/return_std': groupSize > 1 ? mean(groupReturns.map(standardDeviation)) : 0,
    'stop/max_tokens': mean(turns.map(({ completion }) => Number(completion.finish_reason === 'length'))),
    ...Object.fromEntries(components),
  };
}
