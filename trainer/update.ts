/**
 * Updates of the policy from one batch of episodes: rows of tokens with their columns, then one optimizer step for each
 * pass over them. Each turn is a row; tokens the policy did not sample (prompt, canvas, the environment's words) are never
 * predicted, so the loss has the policy's own tokens alone.
 */
import type { LossSpec } from './losses.ts';
import type { LossResult, TokenColumn } from './model/loss.ts';
import type { Model } from './model/model.ts';
import {
  isClipped,
  KL_ESTIMATES,
  LENGTH_WEIGHTS,
  type KlName,
  type LengthName,
  type ObjectiveOptions,
} from './objective.ts';
import type { Optimizer, StepResult } from './optimizer.ts';
import { hasTokens, toTokenBatch, type Completion, type Trajectory } from './rollout.ts';
import type { Compute } from './pool/compute.ts';
import { mean, onlyFinite } from './statistics.ts';

export interface UpdateOptions extends ObjectiveOptions {
  /** Divides the logits, as it did when sampling. */
  temperature: number;
  /** Optimizer steps on the same batch. */
  updates_per_batch: number;
  length: LengthName;
  /** Tokens an episode counts in the divisor of `fixed`. */
  length_divisor: number;
  /** Leaves turns that ran into the token limit out of the loss. */
  mask_truncated: boolean;
}

/** A turn that takes part in the loss. */
interface Row {
  completion: Completion;
  advantage: number;
  weight: number;
  reference_logprobs: readonly number[] | undefined;
}

export interface UpdateResult {
  /** Whether the batch moved nothing, since a gradient was not finite. */
  skipped: boolean;
  metrics: Record<string, number>;
}

/**
 * Takes `updates_per_batch` optimizer steps.
 * @param advantages_ET [E][turn]
 * @param reference_logprobs [E][turn][token]; undefined, and the KL is in neither loss nor metrics. Needed where `kl_beta` is not 0.
 * @param rate Multiplies the learning rates.
 */
export async function updatePolicy(
  { compute, model, optimizer }: { compute: Compute; model: Model; optimizer: Optimizer },
  trajectories: readonly Trajectory[],
  advantages_ET: readonly (readonly number[])[],
  reference_logprobs: readonly (readonly (readonly number[])[])[] | undefined,
  options: UpdateOptions,
  rate: number,
): Promise<UpdateResult> {
  const rows = toRows(trajectories, advantages_ET, reference_logprobs, options);
  if (rows.length === 0) return { skipped: false, metrics: {} }; // no group had a signal, no leash pulls
  const batch = toBatch(rows);
  const loss: LossSpec = { name: 'policy', options: toObjectiveOptions(options) };
  const updates: { result: LossResult; step: StepResult }[] = [];
  for (let i = 0; i < options.updates_per_batch; i++) {
    const result = await compute.lossAndGradients(model, batch, loss, { temperature: options.temperature });
    updates.push({ result, step: await optimizer.apply(result.gradients, rate) });
    if (updates.at(-1)!.step.skipped) break; // the next one would meet the same weights and gradients
  }
  return {
    skipped: updates[0]!.step.skipped,
    metrics: updateMetrics(updates, rows, options, rate),
  };
}

/** These alone: the other options of a run need not be data that can be sent to another thread. */
function toObjectiveOptions(options: ObjectiveOptions): ObjectiveOptions {
  const { policy_loss, clip_low, clip_high, kl_beta, kl_estimator, entropy_bonus } = options;
  return { policy_loss, clip_low, clip_high, kl_beta, kl_estimator, entropy_bonus };
}

/**
 * Rows of all turns that pull: without KL and entropy, those whose advantage is not zero; the others have no gradient.
 * They count in the divisor all the same.
 */
function toRows(
  trajectories: readonly Trajectory[],
  advantages_ET: readonly (readonly number[])[],
  reference_logprobs: readonly (readonly (readonly number[])[])[] | undefined,
  { length, length_divisor, mask_truncated, kl_beta, entropy_bonus }: UpdateOptions,
): Row[] {
  const counts = (completion: Completion): boolean =>
    hasTokens(completion) && !(mask_truncated && completion.finish_reason === 'length');
  const tokens_E = trajectories.map(({ turns }) =>
    turns.reduce((sum, { completion }) => sum + (counts(completion) ? completion.completion_ids.length : 0), 0),
  );
  const weights_E = LENGTH_WEIGHTS[length](tokens_E, length_divisor);
  const rows = trajectories.flatMap(({ turns }, e) =>
    turns.map(({ completion }, turn) => ({
      ...{ completion, advantage: advantages_ET[e]![turn]!, weight: weights_E[e]! },
      reference_logprobs: reference_logprobs?.[e]?.[turn],
    })),
  );
  const allPull = kl_beta > 0 || entropy_bonus > 0;
  return rows.filter(({ completion, advantage }) => counts(completion) && (allPull || advantage !== 0));
}

type ReferenceRow = Row & { reference_logprobs: readonly number[] };

const hasReference = (rows: readonly Row[]): rows is readonly ReferenceRow[] =>
  rows.every((row) => row.reference_logprobs !== undefined);

function toBatch(rows: readonly Row[]) {
  const each = (valueOf: (row: Row) => number): TokenColumn =>
    rows.map((row) => row.completion.completion_ids.map(() => valueOf(row)));
  return {
    ...toTokenBatch(rows.map(({ completion }) => completion)),
    columns: {
      weights: each(({ weight }) => weight),
      advantages: each(({ advantage }) => advantage),
      sampled_logprobs: rows.map(({ completion }) => completion.sampled_logprobs),
      ...(hasReference(rows) && { reference_logprobs: rows.map((row) => row.reference_logprobs) }),
    },
  };
}

/**
 * See trainer/report for what each one means. Of the first update, when the policy is the one that acted, unless said, and
 * of the tokens in the loss: without KL and entropy in it those are the turns whose advantage is not zero (see toRows).
 */
function updateMetrics(
  updates: readonly { result: LossResult; step: StepResult }[],
  rows: readonly Row[],
  { kl_beta, kl_estimator, ...options }: UpdateOptions,
  rate: number,
): Record<string, number> {
  const [first, last] = [updates[0]!, updates.at(-1)!];
  const toSampled = logRatios(first.result, rows);
  const kl = hasReference(rows) ? klMetrics(first.result, rows, { kl_beta, kl_estimator }) : {};
  const clipped = perToken(last.result, rows, (logprob, { advantage, completion }, t) =>
    Number(isClipped(logprob - completion.sampled_logprobs[t]!, advantage, options)),
  );
  return onlyFinite({
    'loss/policy': first.result.loss - (kl['loss/kl'] ?? 0), // with the entropy bonus, where there is one
    ...kl,
    'policy/entropy': mean(first.result.entropies.flat()),
    // Largest difference between what sampling and training make of a token's log-probability, nats.
    'policy/logprob_difference': toSampled.reduce((most, value) => Math.max(most, Math.abs(value)), 0),
    // How far the last update began from the policy that acted.
    ...(updates.length > 1 && {
      'policy/ratio': mean(logRatios(last.result, rows).map(Math.exp)),
      ...(options.policy_loss === 'ppo_clip' && { 'policy/clip_share': mean(clipped) }),
    }),
    'optim/grad_norm': first.step.grad_norm,
    'optim/lr_factor': rate,
  });
}

/** The KL to the reference, nats a token, and what it adds to the loss. */
function klMetrics(
  result: LossResult,
  rows: readonly ReferenceRow[],
  { kl_beta, kl_estimator }: Pick<UpdateOptions, 'kl_beta' | 'kl_estimator'>,
): Record<string, number> {
  const estimates = (name: KlName): number[] =>
    perToken(result, rows, (logprob, row, t) => KL_ESTIMATES[name](logprob, row.reference_logprobs[t]!));
  const weights = perToken(result, rows, (_, { weight }) => weight);
  const [k1, k3] = [estimates('k1'), estimates('k3')];
  const kl = kl_estimator === 'k1' ? k1 : k3;
  const loss = kl_beta * weights.reduce((sum, weight, i) => sum + weight * kl[i]!, 0);
  return { 'loss/kl': loss, 'policy/kl_k1': mean(k1), 'policy/kl_k3': mean(k3) };
}

/** log pi - log old of each token. */
function logRatios(result: LossResult, rows: readonly Row[]): number[] {
  return perToken(result, rows, (logprob, { completion }, t) => logprob - completion.sampled_logprobs[t]!);
}

function perToken<R extends Row>(
  { logprobs }: LossResult,
  rows: readonly R[],
  valueOf: (logprob: number, row: R, token: number) => number,
): number[] {
  return logprobs.flatMap((values, i) => values.map((logprob, t) => valueOf(logprob, rows[i]!, t)));
}
