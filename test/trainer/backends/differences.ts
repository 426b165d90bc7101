/** How far a backend's numbers lie from the reference's, and the table of it. */
import { largestDifference } from '../model-fixture.ts';
import type { Numbers } from './numbers.ts';

export interface Differences {
  /** Largest absolute difference. */
  readonly logits: number;
  readonly loss: number;
  /** Largest over parameters of |difference| / |gradient|, Euclidean. */
  readonly gradients: number;
  /** Sampled against recomputed on the same backend, nats. */
  readonly logprobs: number;
  /** As for gradients, of the weights. */
  readonly sft_weights: number;
  readonly reinforce_weights: number;
}

/**
 * What float32 allows here: sums in another order, exp and rsqrt of another implementation. Three steps of Muon carry a
 * difference on through its orthogonalisation, which raises the small directions of a gradient to the size of the large.
 */
export const ALLOWED: Differences = {
  ...{ logits: 2e-5, loss: 2e-5, gradients: 2e-5, logprobs: 1e-4, sft_weights: 1e-4, reinforce_weights: 1e-4 },
};

export function toDifferences(numbers: Numbers, reference: Numbers): Differences {
  return {
    logits: largestDifference(numbers.logits, reference.logits),
    loss: largestDifference([numbers.loss, ...numbers.sft_losses], [reference.loss, ...reference.sft_losses]),
    gradients: largestRelative(numbers.gradients, reference.gradients),
    logprobs: numbers.logprob_difference,
    sft_weights: largestRelative(numbers.sft_weights, reference.sft_weights),
    reinforce_weights: largestRelative(numbers.reinforce_weights, reference.reinforce_weights),
  };
}

/** Names of what differs by more than is allowed. */
export function faultsOf(differences: Differences): string[] {
  const names = Object.keys(ALLOWED) as (keyof Differences)[];
  return names.filter((name) => !(differences[name] <= ALLOWED[name]));
}

type Lists = Readonly<Record<string, readonly number[]>>;

function largestRelative(lists: Lists, reference: Lists): number {
  const each = Object.entries(reference).map(([name, expected]) => {
    const given = lists[name] ?? [];
    if (given.length !== expected.length) return Infinity;
    return Math.hypot(...expected.map((value, i) => value - given[i]!)) / Math.hypot(...expected);
  });
  return Math.max(...each);
}

/** A table in Markdown, one row each. */
export function toTable(rows: readonly (readonly [string, Differences])[]): string {
  const head =
    '| backend | logits | loss | gradients | sampled log-probs | weights, 3 SFT steps | weights, 1 RL update |';
  const lines = rows.map(([name, differences]) => {
    const cells = Object.values(differences).map((value: number) => (value === 0 ? '0' : value.toExponential(1)));
    return `| ${[name, ...cells].join(' | ')} |`;
  });
  return [head, '|---|---|---|---|---|---|---|', ...lines].join('\n');
}
