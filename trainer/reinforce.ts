/**
 * REINFORCE with a baseline and a leash: sample a group of completions for each task, let the environment score them,
 * and make what scored above its group more likely.
 *
 *   loss = - sum_t (return_to_go_t - baseline) * log pi(token) / divisor  +  beta * sum_t k3_t / divisor
 *
 * Williams 1992, "Simple statistical gradient-following algorithms for connectionist reinforcement learning"; one update
 * a batch, so the policy that is improved is the one that acted: no importance ratio and no clipping are needed. The
 * divisor of the loss is a constant, not each completion's length, so that long failures are not let off (Liu et al.
 * 2025, "Understanding R1-Zero-like training", arXiv 2503.20783). k3 estimates KL(pi || reference) and is what GRPO adds to
 * its loss; its gradient is that of KL(reference || pi) (Tang, Munos 2025, arXiv 2506.09477), which pulls the same way.
 *
 * Left out here: several updates a batch, entropy bonus, curriculum.
 */
import type { Client } from '../clients/ts/index.ts';
import type { Store } from '../clients/store/index.ts';
import { createRng, hash64 } from '../schemas/seed.ts';
import type { Family, Level } from '../schemas/task.ts';
import { computeAdvantages, isFlatGroup, nextMovingMean, type BaselineName } from './advantage.ts';
import {
  computeLogprobs,
  klLoss,
  lossAndGradients,
  sumLosses,
  weightedLoss,
  type LossResult,
  type TokenColumn,
} from './model/loss.ts';
import type { Model } from './model/model.ts';
import type { Optimizer, StepResult } from './optimizer.ts';
import { toEpisodeRecord } from './record.ts';
import { rollout, type Policy, type RolloutOptions, type Trajectory } from './rollout.ts';
import { mean, onlyFinite, standardDeviation } from './statistics.ts';

export interface ReinforceOptions extends RolloutOptions {
  run_id: string;
  seed: number;
  levels: readonly Level[];
  families: readonly Family[];
  /** Optimizer steps to take. */
  steps: number;
  /** Tasks of a step; each is played by a group of `group_size` episodes. */
  tasks_per_step: number;
  /** Divides the logits when sampling; log-probs in the loss are at the same temperature. */
  temperature: number;
  baseline: BaselineName;
  normalise: boolean;
  /** Weight of the KL penalty to the reference policy, 0 for none. */
  kl_beta: number;
  /** Tokens an episode counts as in the loss's divisor. */
  length_divisor: number;
  /** Steps over which the learning rate rises to its value. */
  warmup_steps: number;
  /** Last share of the steps, over which the learning rate falls towards 0. */
  decay_share: number;
}

/** What REINFORCE carries from step to step beside weights and optimizer; it goes into the checkpoint. */
export interface ReinforceState {
  optimizer_step: number;
  env_steps: number;
  /** Mean return to go of each turn over earlier batches. */
  moving_means: number[];
  /** Updates in a row that were skipped, since a gradient was not finite. */
  skipped_in_a_row: number;
}

export interface ReinforceParts {
  client: Client;
  store: Store;
  model: Model;
  reference: Model;
  optimizer: Optimizer;
  /** The policy as the weights are now, sampling with a stream of the given step; disposed after the rollout. */
  createPolicy: (step: number) => Promise<{ act: Policy; dispose: () => void }>;
  /** Called after each step, once it is in the log; a good place to save a checkpoint. */
  onStep: (state: ReinforceState, metrics: Record<string, number>) => Promise<void>;
}

/** Skipped updates in a row after which the run stops. */
const MAX_SKIPPED = 3;
/** Training tasks for REINFORCE begin here, far from those the teacher answered. */
const FIRST_INDEX = 1_000_000;
const INDEX_RANGE = 1_000_000_000;

/** Tokens the policy sampled, with what their loss needs; one row a turn. */
interface TurnBatch {
  prompt_ids: (readonly number[])[];
  completion_ids: (readonly number[])[];
  columns: { weights: TokenColumn; sampled_logprobs: TokenColumn; reference_logprobs: TokenColumn };
}

/**
 * Trains from `state` to the last step.
 * @throws Error when updates stay non-finite, or when the environment cannot be reached: the last checkpoint stays good.
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
    const taskIds = drawTasks(step, options);
    const policy = await parts.createPolicy(step);
    const trajectories = await rollout(client, policy.act, taskIds, options).finally(policy.dispose);
    const actedMs = performance.now();

    // learn
    const advantages = computeTurnAdvantages(trajectories, options, state.moving_means);
    const update = await takeStep(parts, trajectories, advantages, options, step);
    const learnedMs = performance.now();

    // keep
    state.optimizer_step = step + 1;
    state.env_steps += trajectories.reduce((sum, { turns }) => sum + turns.length, 0);
    state.moving_means = nextMovingMeans(state.moving_means, trajectories);
    state.skipped_in_a_row = update.skipped ? state.skipped_in_a_row + 1 : 0;
    const metrics = {
      ...rolloutMetrics(trajectories, options.group_size),
      ...update.metrics,
      'optim/skipped_steps': optimizer.skipped_steps,
      'time/rollout_s': (actedMs - startedMs) / 1000,
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
    await parts.onStep(state, metrics);
    assertFinite(state);
  }
}

/** @throws Error where updates stay non-finite; a run that is taken up from there has not become better by it. */
export function assertFinite({ skipped_in_a_row }: ReinforceState): void {
  if (skipped_in_a_row < MAX_SKIPPED) return;
  throw new Error(`${MAX_SKIPPED} updates in a row had gradients that are not finite: lower the learning rate`);
}

/** Task ids of a step: a family, a level and an index, each drawn anew from the step's own stream. */
export function drawTasks(
  step: number,
  { seed, families, levels, tasks_per_step }: Pick<ReinforceOptions, 'seed' | 'families' | 'levels' | 'tasks_per_step'>,
): string[] {
  const rng = createRng(hash64('reinforce.tasks', seed, step));
  return Array.from({ length: tasks_per_step }, () => {
    const index = FIRST_INDEX + Math.floor(rng.next() * INDEX_RANGE);
    return `train.${rng.pick(families)}.${rng.pick(levels)}.${index}`;
  });
}

/**
 * The advantage of every turn, [episode][turn]: its return to go against those of the same turn in its group.
 * With one turn, the return to go is the episode's return.
 */
export function computeTurnAdvantages(
  trajectories: readonly Trajectory[],
  { baseline, normalise }: Pick<ReinforceOptions, 'baseline' | 'normalise'>,
  movingMeans: readonly number[] = [],
): number[][] {
  const advantages = trajectories.map(({ turns }) => new Array<number>(turns.length).fill(0));
  const indices = trajectories.map((_, i) => i);
  for (const members of groupBy(indices, (i) => trajectories[i]!.group_id)) {
    const turns = Math.max(...members.map((i) => trajectories[i]!.turns.length));
    for (let turn = 0; turn < turns; turn++) {
      const present = members.filter((i) => turn < trajectories[i]!.turns.length);
      const returnsToGo = present.map((i) => returnToGo(trajectories[i]!, turn));
      const values = computeAdvantages(returnsToGo, { baseline, normalise, moving_mean: movingMeans[turn] });
      present.forEach((i, k) => {
        advantages[i]![turn] = values[k]!;
      });
    }
  }
  return advantages;
}

/** The moving mean of each turn after a batch with these trajectories. */
function nextMovingMeans(previous: readonly number[], trajectories: readonly Trajectory[]): number[] {
  const turns = Math.max(previous.length, ...trajectories.map((trajectory) => trajectory.turns.length));
  return Array.from({ length: turns }, (_, turn) => {
    const present = trajectories.filter((trajectory) => turn < trajectory.turns.length);
    if (present.length === 0) return previous[turn]!;
    return nextMovingMean(
      previous[turn],
      present.map((trajectory) => returnToGo(trajectory, turn)),
    );
  });
}

/** Sum of the rewards from `turn` on, undiscounted. */
function returnToGo({ turns }: Trajectory, turn: number): number {
  return turns.slice(turn).reduce((sum, { reward }) => sum + reward, 0);
}

async function takeStep(
  { model, reference, optimizer }: ReinforceParts,
  trajectories: readonly Trajectory[],
  advantages: readonly (readonly number[])[],
  options: ReinforceOptions,
  step: number,
): Promise<{ skipped: boolean; metrics: Record<string, number> }> {
  const { temperature, kl_beta } = options;
  const batch = toTurnBatch(trajectories, advantages, kl_beta > 0);
  if (batch.prompt_ids.length === 0) return { skipped: false, metrics: {} }; // no group had a signal, no leash pulls
  const { logprobs: reference_logprobs } = await computeLogprobs(reference, batch, { temperature });
  batch.columns.reference_logprobs = reference_logprobs;

  const divisor = trajectories.length * options.length_divisor;
  const policyLoss = weightedLoss(divisor); // - sum A log pi / divisor
  const loss = kl_beta > 0 ? sumLosses(policyLoss, klLoss(kl_beta, divisor)) : policyLoss;
  const result = await lossAndGradients(model, batch, loss, { temperature });
  const rate = learningRateFactor(step, options);
  const update = await optimizer.apply(result.gradients, rate);
  return {
    skipped: update.skipped,
    metrics: updateMetrics(result, update, batch, { rate, klWeight: kl_beta / divisor }),
  };
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

/** Rows of all turns; without a KL term (`hasLeash`), of those whose advantage is not zero: the others have no gradient. */
function toTurnBatch(
  trajectories: readonly Trajectory[],
  advantages: readonly (readonly number[])[],
  hasLeash: boolean,
): TurnBatch {
  const rows = trajectories.flatMap(({ turns }, i) =>
    turns.map((turn, t) => ({ completion: turn.completion, advantage: advantages[i]![t]! })),
  );
  const kept = hasLeash ? rows : rows.filter(({ advantage }) => advantage !== 0);
  return {
    prompt_ids: kept.map(({ completion }) => completion.prompt_ids),
    completion_ids: kept.map(({ completion }) => completion.completion_ids),
    columns: {
      weights: kept.map(({ completion, advantage }) => completion.completion_ids.map(() => advantage)),
      sampled_logprobs: kept.map(({ completion }) => completion.sampled_logprobs),
      reference_logprobs: [],
    },
  };
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

function updateMetrics(
  { loss, logprobs, entropies }: LossResult,
  { grad_norm }: StepResult,
  { columns }: TurnBatch,
  { rate, klWeight }: { rate: number; klWeight: number },
): Record<string, number> {
  const toReference = differences(columns.reference_logprobs, logprobs);
  const k3 = toReference.map((difference) => Math.expm1(difference) - difference);
  const klLoss = klWeight * k3.reduce((sum, value) => sum + value, 0);
  return onlyFinite({
    'loss/policy': loss - klLoss,
    'loss/kl': klLoss,
    'policy/entropy': mean(entropies.flat()),
    'policy/kl_k1': -mean(toReference),
    'policy/kl_k3': mean(k3),
    // How far training sees another policy than the one that acted, nats.
    'policy/logprob_gap': differences(columns.sampled_logprobs, logprobs).reduce((a, b) => Math.max(a, Math.abs(b)), 0),
    'optim/grad_norm': grad_norm,
    'optim/lr_factor': rate,
  });
}

/** a - b, token by token. */
function differences(a: TokenColumn, b: TokenColumn): number[] {
  return a.flatMap((row, i) => row.map((value, t) => value - b[i]![t]!));
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups.values()];
}
