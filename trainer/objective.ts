/**
 * What an update of the policy minimises: a weighted sum over the sampled tokens,
 *
 *   loss = sum_t w_t (policy_t + beta * kl_t - bonus * H_t)
 *
 * REINFORCE, PPO-clip and GRPO are choices from the tables below. Each table maps a name to a pure function and names the
 * paper its formula comes from. pi: the policy as it is now; old: as it was when it acted; ref: the frozen one it began as.
 *
 * The gradient flows through log pi and H alone. Everything else is a column of numbers, one for each sampled token.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { LossFunction, TokenView } from './model/loss.ts';

/** Columns a loss reads, each [completion][token]. */
export const COLUMNS = ['weights', 'advantages', 'sampled_logprobs', 'reference_logprobs'] as const;

// ---------------------------------------------------------------------------------------------------------------- policy

export const POLICY_LOSS_NAMES = ['reinforce', 'importance', 'ppo_clip'] as const;
export type PolicyLossName = (typeof POLICY_LOSS_NAMES)[number];

export interface ClipRange {
  /** The ratio is cut off below 1 - clip_low and above 1 + clip_high. */
  clip_low: number;
  clip_high: number;
}

/** policy_t of each token, [K]. */
type PolicyLoss = (tokens: TokenView, clip: ClipRange) => tf.Tensor1D;

export const POLICY_LOSSES: Readonly<Record<PolicyLossName, PolicyLoss>> = {
  /** -A log pi: for one update a batch, when pi is the policy that acted (Williams 1992). */
  reinforce: ({ logprobs, column }) => tf.neg(tf.mul(column('advantages'), logprobs)),
  /** -A r with r = pi / old, which keeps the gradient unbiased after pi has moved on (Kakade, Langford 2002). */
  importance: (tokens) => tf.neg(tf.mul(tokens.column('advantages'), ratio(tokens))),
  /**
   * -min(A r, A clip(r, 1 - clip_low, 1 + clip_high)): no gain from moving further (PPO, Schulman et al. 2017, arXiv
   * 1707.06347, eq. 7). With group advantages it is GRPO's (Shao et al. 2024, arXiv 2402.03300, eq. 3); with a wider upper
   * bound DAPO's (Yu et al. 2025, arXiv 2503.14476, 3.1).
   */
  ppo_clip: (tokens, { clip_low, clip_high }) => {
    const advantages = tokens.column('advantages');
    const r = ratio(tokens);
    const clipped = tf.clipByValue(r, 1 - clip_low, 1 + clip_high);
    return tf.neg(tf.minimum(tf.mul(advantages, r), tf.mul(advantages, clipped)));
  },
};

/** pi / old of each token, [K]. */
function ratio({ logprobs, column }: TokenView): tf.Tensor1D {
  return tf.exp(tf.sub(logprobs, column('sampled_logprobs')));
}

/** Whether `ppo_clip` has cut a token's gradient off: its ratio is out of bounds on the side the advantage pushes to. */
export function isClipped(logRatio: number, advantage: number, { clip_low, clip_high }: ClipRange): boolean {
  const r = Math.exp(logRatio);
  return advantage > 0 ? r > 1 + clip_high : advantage < 0 && r < 1 - clip_low;
}

// -------------------------------------------------------------------------------------------------------------------- KL

export const KL_NAMES = ['k1', 'k3'] as const;
export type KlName = (typeof KL_NAMES)[number];

/**
 * Estimates of KL(pi || ref) from one token that pi sampled (Schulman, "Approximating KL divergence", 2020), from its
 * log-probabilities. Both have that mean; k3 is never negative and less noisy. As rewards they are not alike: the policy
 * gradient of k1 is that of KL(pi || ref), but of k3 it is that of KL(pi || ref) - KL(ref || pi), next to nothing near ref,
 * since k3 depends on pi beyond the sampling (cf. Tang, Munos 2025, arXiv 2506.09477).
 */
export const KL_ESTIMATES: Readonly<Record<KlName, (logprob: number, reference: number) => number>> = {
  k1: (logprob, reference) => logprob - reference,
  k3: (logprob, reference) => Math.expm1(reference - logprob) - (reference - logprob),
};

/**
 * kl_t of each token as a term of the loss, [K]. Its gradient is that of the token's own distribution: what the token does
 * to the KL of later ones is left out, and is there with the KL in the reward (ibid.).
 */
export const KL_LOSSES: Readonly<Record<KlName, (tokens: TokenView) => tf.Tensor1D>> = {
  /** r k1. Without the ratio the expected gradient of k1 is 0 (ibid.). */
  k1: (tokens) => tf.mul(ratio(tokens), tf.sub(tokens.logprobs, tokens.column('reference_logprobs'))),
  /** k3 as GRPO adds it to its loss. Its expected gradient is that of KL(ref || pi), which pulls the same way (ibid.). */
  k3: ({ logprobs, column }) => {
    const difference = tf.sub(column('reference_logprobs'), logprobs);
    return tf.sub(tf.expm1(difference), difference);
  },
};

// ---------------------------------------------------------------------------------------------------------------- length

export const LENGTH_NAMES = ['token', 'sequence', 'fixed'] as const;
export type LengthName = (typeof LENGTH_NAMES)[number];

/**
 * w_t of the tokens of each episode, [E], from the tokens it sampled, [E]. An episode that is left out of the loss counts
 * 0 tokens, but is an episode still.
 */
export const LENGTH_WEIGHTS: Readonly<
  Record<LengthName, (tokens_E: readonly number[], divisor: number) => readonly number[]>
> = {
  /** Each token of the batch alike: 1 / sum of all tokens (DAPO, arXiv 2503.14476, 3.3). */
  token: (tokens_E) => {
    const total = tokens_E.reduce((sum, tokens) => sum + tokens, 0);
    return tokens_E.map((tokens) => (tokens === 0 ? 0 : 1 / total));
  },
  /** Each episode alike: 1 / (E tokens). Long failures weigh less per token (GRPO, arXiv 2402.03300, eq. 3). */
  sequence: (tokens_E) => tokens_E.map((tokens) => (tokens === 0 ? 0 : 1 / (tokens_E.length * tokens))),
  /** 1 / (E divisor): the sum over tokens that the policy gradient theorem has (Liu et al. 2025, arXiv 2503.20783, 3.2). */
  fixed: (tokens_E, divisor) => tokens_E.map((tokens) => (tokens === 0 ? 0 : 1 / (tokens_E.length * divisor))),
};

// ------------------------------------------------------------------------------------------------------------- the whole

export interface ObjectiveOptions extends ClipRange {
  policy_loss: PolicyLossName;
  /** Weight of the KL to the reference policy in the loss; 0 for none. */
  kl_beta: number;
  kl_estimator: KlName;
  /** Weight of the entropy, nats, that the loss rewards (Williams, Peng 1991); 0 for none. */
  entropy_bonus: number;
}

/** The loss of an update. Its columns are COLUMNS. */
export function createObjective(options: ObjectiveOptions): LossFunction {
  const { policy_loss, kl_beta, kl_estimator, entropy_bonus } = options;
  return (tokens) => {
    let loss_K = POLICY_LOSSES[policy_loss](tokens, options);
    if (kl_beta > 0) loss_K = tf.add(loss_K, tf.mul(KL_LOSSES[kl_estimator](tokens), kl_beta));
    if (entropy_bonus > 0) loss_K = tf.sub(loss_K, tf.mul(tokens.entropies, entropy_bonus));
    return tf.sum(tf.mul(tokens.column('weights'), loss_K));
  };
}
